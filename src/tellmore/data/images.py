"""Checks pictures, turns them upright, shrinks them once, and stores them as JPEG in the project.

Only newly encoded thumbnails are served, never the original file: neither its hidden metadata (places, names) nor a file
that only pretends to be a picture reaches a browser.
"""

from __future__ import annotations

import hashlib
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from tellmore.data.places import ALLOWED_VARIABLE, may_be_named
from tellmore.errors import DataFileError, needs
from tellmore.files import replacing

THUMBNAIL_PX = 1024
MAX_PIXELS = 120_000_000
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "HEIF")


def load_picture(path: Path, *, largest_px: int | None = None) -> Any:
    """The picture as an upright RGB ``PIL.Image``; if ``largest_px`` is given, at most that wide and high."""
    Image, ImageOps = _pillow()
    try:
        with warnings.catch_warnings():
            # Pillow warns above 89 million pixels and refuses above 179; this limit is in between, for large cameras.
            warnings.simplefilter("ignore")
            with Image.open(path, formats=_readable_formats()) as opened:
                width, height = opened.size
                if width * height > MAX_PIXELS:
                    raise DataFileError(
                        f"{path}: {width} x {height} pixels are refused as a possible decompression bomb; "
                        f"at most {MAX_PIXELS // 10**6} million are read"
                    )
                if largest_px is not None:
                    opened.draft("RGB", (largest_px, largest_px))
                opened.load()
                upright = _on_white(ImageOps.exif_transpose(opened))
    except Image.DecompressionBombError as error:
        raise DataFileError(f"{path}: refused as a possible decompression bomb: {error}") from None
    except FileNotFoundError:
        raise DataFileError(f"{path}: no such picture") from None
    except PermissionError as error:
        raise DataFileError(f"{path}: cannot be read: {error.strerror}") from None
    except Image.UnidentifiedImageError:
        raise DataFileError(f"{path}: not a picture that can be read; {_allowed(path)}") from None
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError) as error:
        raise DataFileError(f"{path}: the picture is damaged or cut short: {error}") from None
    if largest_px is not None:
        upright.thumbnail((largest_px, largest_px))
    return upright


def _readable_formats() -> tuple[str, ...]:
    """The allowed formats that can be read here; HEIC, from phones, needs a package in addition to Pillow."""
    Image, _ = _pillow()
    with suppress(ImportError):
        from pillow_heif import register_heif_opener

        register_heif_opener()
    Image.init()
    return tuple(name for name in FORMATS if name in Image.OPEN)


def _allowed(path: Path) -> str:
    formats = _readable_formats()
    if path.suffix.lower() in (".heic", ".heif") and "HEIF" not in formats:
        return "HEIC is read with pillow-heif: pip install 'tellmore[files]'"
    return f"allowed are {', '.join(formats)}"


def _on_white(picture: Any) -> Any:
    """The picture in RGB; transparent parts become white."""
    Image, _ = _pillow()
    if picture.mode.startswith("I"):  # 16 bits per pixel; Pillow would clip at 255 instead of scaling
        picture = picture.convert("I").point(lambda value: value * (1 / 257)).convert("L")
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        layered = picture.convert("RGBA")
        white = Image.new("RGBA", layered.size, "white")
        return Image.alpha_composite(white, layered).convert("RGB")
    return picture.convert("RGB")


def _pillow() -> tuple[Any, Any]:
    with needs("pillow", "app"):
        from PIL import Image, ImageOps
    return Image, ImageOps


def thumbnail_path(cache: Path, identifier: str, original: Path) -> Path:
    """Where the thumbnail of an item is stored; ids are hashed, because they may contain any character."""
    key = hashlib.sha256(f"{identifier}\0{original.name}".encode()).hexdigest()[:40]
    return cache / f"{key}.jpg"


def project_thumbnail(cache: Path, identifier: str, original: Path) -> Path:
    """The thumbnail of a picture that a project names; ``cache`` is in its folder. Pictures outside the folder are refused."""
    made = thumbnail_path(cache, identifier, original)
    if not may_be_named(made if made.exists() else original, cache.parent):
        raise DataFileError(
            f"{original}: the picture is neither in the project's folder nor in one that {ALLOWED_VARIABLE} allows"
        )
    return thumbnail(cache, identifier, original)


def thumbnail(cache: Path, identifier: str, original: Path) -> Path:
    """The thumbnail's file; it is made if it does not exist yet."""
    target = thumbnail_path(cache, identifier, original)
    if target.exists():
        return target
    picture = load_picture(original, largest_px=THUMBNAIL_PX)
    cache.mkdir(parents=True, exist_ok=True)
    with replacing(target) as fresh:
        picture.save(fresh, "JPEG", quality=85, optimize=True)
    return target
