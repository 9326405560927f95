//! Payloads in LZ4, where that is smaller. It costs about as much time as hashing them.

/// Packing has to save this much, in parts of four, to be worth unpacking later.
const WORTHWHILE: usize = 3;
/// A packed payload that claims to be larger than this is refused: nothing we write comes near it.
const LARGEST: usize = 1 << 30;
/// LZ4 cannot do better than this.
const HIGHEST_RATIO: usize = 255;

/// The packed text; `None` where it would not be much smaller.
pub fn pack(text: &str) -> Option<Vec<u8>> {
    let packed = lz4_flex::compress_prepend_size(text.as_bytes());
    (packed.len() < text.len() / 4 * WORTHWHILE).then_some(packed)
}

/// The text again. What is said about its length is checked before room is made for it.
pub fn unpack(packed: &[u8]) -> Result<String, String> {
    let (length, rest) = packed.split_first_chunk::<4>().ok_or("a packed payload is cut off")?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > LARGEST || length > rest.len().saturating_mul(HIGHEST_RATIO) {
        return Err(format!("a packed payload of {} bytes claims to be {length}", packed.len()));
    }
    let bytes = lz4_flex::decompress(rest, length).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_itself_becomes_small_and_comes_back() {
        let text = "{\"name\":\"Ada\"},".repeat(1_000);
        let packed = pack(&text).unwrap();
        assert!(packed.len() * 20 < text.len(), "{} of {}", packed.len(), text.len());
        assert_eq!(unpack(&packed).unwrap(), text);
    }

    #[test]
    fn what_does_not_get_smaller_stays_as_it_is() {
        let noise: String =
            (0..200_u32).map(|n| blake3::hash(&n.to_le_bytes()).to_hex().to_string()).collect();
        assert_eq!(pack(&noise), None);
    }

    #[test]
    fn lies_are_refused_before_room_is_made() {
        let mut packed = pack(&"x".repeat(5_000)).unwrap();
        packed[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(unpack(&packed).unwrap_err().contains("claims to be"));
        packed[..4].copy_from_slice(&4_999_u32.to_le_bytes());
        assert!(unpack(&packed).is_err());
        assert!(unpack(b"abc").is_err());
    }
}
