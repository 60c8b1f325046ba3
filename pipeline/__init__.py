"""fairlane: a fair queue of OCR and content checks for very many devices."""

__version__ = "0.1.0"
