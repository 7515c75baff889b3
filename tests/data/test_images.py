from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import pytest
from PIL import Image

from tellmore.data import images
from tellmore.data.images import THUMBNAIL_PX, load_picture, thumbnail, thumbnail_path
from tellmore.errors import DataFileError


def bomb(path: Path, width: int, height: int) -> Path:
    """A PNG of a few bytes that claims to be width x height."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    return path


def test_pictures_are_turned_upright_and_lose_their_metadata(tmp_path: Path):
    sideways = Image.new("RGB", (40, 20), "blue")
    sideways.paste((255, 0, 0), (0, 0, 20, 20))
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise to stand upright
    exif[0x010E] = "a secret place"
    sideways.save(tmp_path / "a.jpg", exif=exif, quality=95)
    made = thumbnail(tmp_path / "cache", "a", tmp_path / "a.jpg")
    with Image.open(made) as shown:
        assert shown.size == (20, 40)
        assert shown.getpixel((10, 5))[0] > 200  # red is on top
        assert not dict(shown.getexif())
    assert b"secret" not in made.read_bytes()


def test_large_pictures_are_shrunk_once(tmp_path: Path):
    Image.new("RGB", (3000, 1500), "green").save(tmp_path / "a.png")
    made = thumbnail(tmp_path / "cache", "a", tmp_path / "a.png")
    with Image.open(made) as shown:
        assert shown.size == (THUMBNAIL_PX, THUMBNAIL_PX // 2)
    before = made.stat().st_mtime_ns
    (tmp_path / "a.png").unlink()
    assert thumbnail(tmp_path / "cache", "a", tmp_path / "a.png") == made
    assert made.stat().st_mtime_ns == before
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [made.name]


def test_ids_never_reach_the_file_system(tmp_path: Path):
    path = thumbnail_path(tmp_path, "../../etc/passwd\0", Path("a.png"))
    assert path.parent == tmp_path
    assert path != thumbnail_path(tmp_path, "b", Path("a.png"))


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "L", "CMYK", "I;16", "1"])
def test_every_mode_becomes_plain_colours(tmp_path: Path, mode):
    name = tmp_path / ("a.jpg" if mode == "CMYK" else "a.png")
    Image.new(mode, (8, 8)).save(name)
    assert load_picture(name).mode == "RGB"


@pytest.mark.parametrize(("mode", "name"), [("I;16", "deep.png"), ("I;16", "deep.tiff"), ("I", "deep.tiff")])
def test_sixteen_bits_are_scaled_and_not_cut_off(tmp_path: Path, mode, name):
    Image.new("I;16", (4, 4), 128 * 257).convert(mode).save(tmp_path / name)
    assert load_picture(tmp_path / name).getpixel((1, 1)) == (128, 128, 128)


def test_what_is_transparent_becomes_white(tmp_path: Path):
    Image.new("RGBA", (4, 4), (0, 0, 0, 0)).save(tmp_path / "a.png")
    assert load_picture(tmp_path / "a.png").getpixel((0, 0)) == (255, 255, 255)


def test_a_decompression_bomb_is_refused_before_it_is_read(tmp_path: Path, one_line):
    for width, height in ((20_000, 20_000), (60_000, 60_000), (11_000, 11_000)):
        with pytest.raises(DataFileError, match="decompression bomb") as raised:
            load_picture(bomb(tmp_path / "bomb.png", width, height))
        assert str(tmp_path / "bomb.png") in one_line(raised.value)
    with pytest.raises(DataFileError, match="damaged or cut short"):
        load_picture(bomb(tmp_path / "large.png", 10_000, 10_000))


def test_damaged_pictures(tmp_path: Path, one_line):
    Image.effect_noise((200, 200), 50).save(tmp_path / "whole.jpg")
    data = (tmp_path / "whole.jpg").read_bytes()
    cases = {
        "short.jpg": (data[: len(data) // 2], "damaged or cut short"),
        "text.jpg": (b"just text", "not a picture that can be read"),
        "empty.png": (b"", "not a picture that can be read"),
        "script.svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a picture that can be read"),
        "post.eps": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a picture that can be read"),
    }
    for name, (content, said) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataFileError, match=said) as raised:
            thumbnail(tmp_path / "cache", name, tmp_path / name)
        assert name in one_line(raised.value)
    with pytest.raises(DataFileError, match="no such picture"):
        load_picture(tmp_path / "gone.jpg")
    assert not (tmp_path / "cache").exists()


def test_a_failed_write_leaves_nothing_in_the_cache(tmp_path: Path, monkeypatch):
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")

    def full(self, path, *args, **kwargs):
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", full)
    with pytest.raises(OSError, match="No space left"):
        images.thumbnail(tmp_path / "cache", "a", tmp_path / "a.png")
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("name", ["a.avif", "a.heic"])
def test_pictures_of_phones(tmp_path: Path, name):
    heif = pytest.importorskip("pillow_heif")
    picture = Image.new("RGB", (64, 48), (200, 20, 10))
    if name == "a.heic":
        heif.from_pillow(picture).save(tmp_path / name)
    else:
        picture.save(tmp_path / name)
    red, green, _ = load_picture(tmp_path / name).getpixel((9, 9))
    assert red > 150 > green


def test_a_picture_whose_reader_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    monkeypatch.delitem(Image.OPEN, "HEIF", raising=False)
    (tmp_path / "a.heic").write_bytes(b"\0\0\0\x18ftypheic\0\0\0\0heicmif1")
    with pytest.raises(DataFileError, match=r"pip install 'tellmore\[files\]'"):
        load_picture(tmp_path / "a.heic")
