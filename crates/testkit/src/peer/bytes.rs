//! Bytes to send: HTTP heads, chunks, garbage.

/// A response head: status line, headers, empty line.
pub fn http_head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head.into_bytes()
}

/// A whole response whose body has a stated length.
pub fn http_whole(status: u16, content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len().to_string();
    let mut whole = http_head(status, &[("content-type", content_type), ("content-length", &length)]);
    whole.extend_from_slice(body);
    whole
}

/// The head of a stream of server-sent events, whose body comes as [`chunk`]s.
pub fn sse_head() -> Vec<u8> {
    http_head(
        200,
        &[
            ("content-type", "text/event-stream"),
            ("cache-control", "no-cache"),
            ("transfer-encoding", "chunked"),
        ],
    )
}

/// A piece of a chunked body; nothing for no bytes, since an empty chunk would end the body.
pub fn chunk(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    if bytes.is_empty() {
        return Vec::new();
    }
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// The end of a chunked body, without trailers.
pub fn last_chunk() -> Vec<u8> {
    b"0\r\n\r\n".to_vec()
}

/// Pseudo-random bytes, the same ones for the same seed; a shorter answer is the start of a longer one.
pub fn garbage(length: usize, seed: u64) -> Vec<u8> {
    // splitmix64: good for any seed, 0 included.
    let mut state = seed;
    let words = std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    });
    words.flat_map(u64::to_le_bytes).take(length).collect()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Payload Too Large",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        // The phrase may be empty; it says nothing that the number does not.
        _ => "",
    }
}
