//! Codecs against recorded and made-up bytes.

mod gemini;
