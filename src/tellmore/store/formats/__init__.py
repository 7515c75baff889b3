"""The formats of answers that ``tellmore import`` reads, one small object each; a file is read by the first that suits it."""

from tellmore.store.formats.argilla import ARGILLA
from tellmore.store.formats.columns import LABELS, PAIRWISE, RANKING
from tellmore.store.formats.contract import Format
from tellmore.store.formats.doccano import DOCCANO
from tellmore.store.formats.label_studio import LABEL_STUDIO
from tellmore.store.formats.own import OWN
from tellmore.store.formats.prodigy import PRODIGY

FORMATS: dict[str, Format] = {
    format.name: format for format in (OWN, LABEL_STUDIO, ARGILLA, PRODIGY, DOCCANO, PAIRWISE, LABELS, RANKING)
}
