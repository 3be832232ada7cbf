//! The fields of protobuf messages that spans need.

/// A message that is being written.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Message(pub(super) Vec<u8>);

/// A value of an attribute.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Text(&'a str),
    Int(u64),
    Double(f64),
    Bool(bool),
}

impl Message {
    /// A number of variable length.
    pub(super) fn number(&mut self, field: u32, value: u64) {
        self.key(field, 0);
        self.varint(value);
    }

    /// A number of eight bytes.
    pub(super) fn fixed64(&mut self, field: u32, value: u64) {
        self.key(field, 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A number of four bytes.
    pub(super) fn fixed32(&mut self, field: u32, value: u32) {
        self.key(field, 5);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Bytes or text.
    pub(super) fn bytes(&mut self, field: u32, value: &[u8]) {
        self.key(field, 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// A message in this one.
    pub(super) fn inner(&mut self, field: u32, write: impl FnOnce(&mut Message)) {
        let mut inner = Message::default();
        write(&mut inner);
        self.bytes(field, &inner.0);
    }

    /// A name and its value, as a `KeyValue`.
    pub(super) fn attribute(&mut self, field: u32, name: &str, value: Value<'_>) {
        self.inner(field, |pair| {
            pair.bytes(1, name.as_bytes());
            pair.inner(2, |any| match value {
                Value::Text(text) => any.bytes(1, text.as_bytes()),
                Value::Bool(value) => any.number(2, u64::from(value)),
                Value::Int(value) => any.number(3, value),
                Value::Double(value) => any.fixed64(4, value.to_bits()),
            });
        });
    }

    fn key(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(field << 3 | kind));
    }

    fn varint(&mut self, mut value: u64) {
        loop {
            let [low, ..] = value.to_le_bytes();
            value >>= 7;
            if value == 0 {
                self.0.push(low & 0x7f);
                return;
            }
            self.0.push(low | 0x80);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_as_the_format_has_them() {
        let mut message = Message::default();
        message.number(1, 150);
        message.number(1, 0);
        message.number(2, u64::MAX);
        message.bytes(2, b"testing");
        message.inner(3, |inner| inner.number(1, 150));
        message.fixed32(16, 1);
        message.fixed64(7, 2);
        let expected: Vec<u8> = [
            &[0x08, 0x96, 0x01][..],
            &[0x08, 0x00],
            &[0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0x12, 0x07, b't', b'e', b's', b't', b'i', b'n', b'g'],
            &[0x1a, 0x03, 0x08, 0x96, 0x01],
            &[0x85, 0x01, 1, 0, 0, 0],
            &[0x39, 2, 0, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(message.0, expected);
    }
}
