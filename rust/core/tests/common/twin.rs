//! The slow twin of the framer: the whole input at once, line by line, in the order of the standard's sentences.
//!
//! Quoted are 9.2.5 "Parsing an event stream" and 9.2.6 "Interpreting an event stream" of the HTML standard. What the
//! framer adds to them (counts, offsets, the limit) stands below in paragraphs of its own, marked "Ours". Nothing here
//! is fast, incremental or shared with the framer.

// Plain indices and one arm a sentence are easiest to hold against the standard.
#![allow(clippy::indexing_slicing, clippy::match_same_arms)]

/// One step, owned, as the framer and its twin are compared by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    Event { data: Vec<u8>, name: Vec<u8>, id: Vec<u8>, retry: Option<u64>, offset: u64 },
    Ignored { line: Vec<u8>, comment: bool, in_event: bool, offset: u64 },
    TooLarge { offset: u64 },
}

/// All that came out of an input, and what is in force at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) steps: Vec<Seen>,
    pub(crate) last_event_id: Vec<u8>,
    pub(crate) retry: Option<u64>,
    pub(crate) comments: u64,
    pub(crate) offset: u64,
}

/// What the standard calls buffers, for one block.
#[derive(Default)]
struct Block {
    /// Each data line's value followed by LF.
    data: Vec<u8>,
    data_offset: u64,
    event_type: Vec<u8>,
    id: Option<Vec<u8>>,
    retry: Option<u64>,
    too_large: bool,
}

/// Decode the whole input.
pub(crate) fn decode(input: &[u8], limit: usize, show_ignored: bool) -> Outcome {
    let mut out = Outcome { offset: input.len() as u64, ..Outcome::default() };
    let mut block = Block::default();
    for Line { offset, text, ended } in lines(input) {
        // "If the line is empty (a blank line): Dispatch the event."
        if ended && text.is_empty() {
            dispatch(&mut out, &mut block);
            block = Block::default();
            continue;
        }

        // "If the line starts with a U+003A COLON character (:): Ignore the line."  Ours: counted where it ends.
        let comment = text.starts_with(b":");
        out.comments += u64::from(comment && ended);

        // Ours: of a block beyond the limit, everything up to its blank line is dropped.
        if block.too_large {
            continue;
        }

        // "If the line contains a U+003A COLON character (:): Collect the characters on the line before the first
        // U+003A COLON character (:), and let field be that string. Collect the characters on the line after the first
        // U+003A COLON character (:), and let value be that string. If value starts with a U+0020 SPACE character,
        // remove it from value."
        // "Otherwise, the string is not empty but does not contain a U+003A COLON character (:): Process the field
        // [...] using the whole line as the field name, and the empty string as the field value."
        let (field, value) = match text.iter().position(|byte| *byte == b':') {
            Some(colon) => (&text[..colon], text[colon + 1..].strip_prefix(b" ").unwrap_or(&text[colon + 1..])),
            None => (text, &[][..]),
        };
        let known = matches!(field, b"data" | b"event" | b"id" | b"retry");

        // Ours, the limit. Held of a block are its data with LF between the lines, its event type, its id, the id in
        // force, and the line being read: of a data line the value, of another all. An ignored line that is not shown
        // is not held. A line that has not ended is measured as soon as it is plain what it will be: a data line from
        // the first byte behind the colon, another from its tenth byte.
        let line_size = if field == b"data" { value.len() } else { text.len() };
        let id_size = out.last_event_id.len() + block.id.as_ref().map_or(0, Vec::len);
        let held = block.data.len() + block.event_type.len() + id_size;
        let measured = ended || text.len() > if text.starts_with(b"data:") { 5 } else { 9 };
        if (known || show_ignored) && measured && held + line_size > limit {
            out.steps.push(Seen::TooLarge { offset });
            block = Block { too_large: true, ..Block::default() };
            continue;
        }

        // "Once the end of the file is reached, any pending data must be discarded."
        if !ended {
            break;
        }

        match field {
            // "If the field name is "event": Set the event type buffer to field value."
            b"event" => block.event_type = value.to_vec(),
            // "If the field name is "data": Append the field value to the data buffer, then append a single U+000A
            // LINE FEED (LF) character to the data buffer."
            b"data" => {
                if block.data.is_empty() {
                    block.data_offset = offset;
                }
                block.data.extend_from_slice(value);
                block.data.push(b'\n');
            }
            // "If the field name is "id": If the field value does not contain U+0000 NULL, then set the last event ID
            // buffer to the field value. Otherwise, ignore the field."
            b"id" if !value.contains(&0) => block.id = Some(value.to_vec()),
            b"id" => {}
            // "If the field name is "retry": If the field value consists of only ASCII digits, then interpret the field
            // value as an integer in base ten, and set the event stream's reconnection time to that integer.
            // Otherwise, ignore the field."  Ours: a number past 64 bits stays at the largest.
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(value).unwrap_or_default();
                block.retry = Some(digits.parse().unwrap_or(u64::MAX));
                out.retry = block.retry;
            }
            b"retry" => {}
            // "Otherwise: The field is ignored."  Ours: shown on request, as comments are.
            _ if show_ignored => {
                let in_event = !block.data.is_empty();
                out.steps.push(Seen::Ignored { line: text.to_vec(), comment, in_event, offset });
            }
            _ => {}
        }
    }
    out
}

fn dispatch(out: &mut Outcome, block: &mut Block) {
    // "Set the last event ID string of the event source to the value of the last event ID buffer. The buffer does not
    // get reset, so the last event ID string of the event source remains set to this value until the next time it is
    // set by the server."
    if let Some(id) = block.id.take() {
        out.last_event_id = id;
    }
    // "If the data buffer is an empty string, set the data buffer and the event type buffer to the empty string and
    // return."
    // "If the data buffer's last character is a U+000A LINE FEED (LF) character, then remove the last character from
    // the data buffer."  (Each data line has appended one.)
    if block.data.pop().is_some() {
        out.steps.push(Seen::Event {
            data: std::mem::take(&mut block.data),
            name: std::mem::take(&mut block.event_type),
            id: out.last_event_id.clone(),
            retry: block.retry,
            offset: block.data_offset,
        });
    }
}

struct Line<'a> {
    offset: u64,
    text: &'a [u8],
    ended: bool,
}

/// "Lines must be separated by either a U+000D CARRIAGE RETURN U+000A LINE FEED (CRLF) character pair, a single U+000A
/// LINE FEED (LF) character, or a single U+000D CARRIAGE RETURN (CR) character."
///
/// Ours: a CR at the end of the input has ended its line, whatever comes next.
fn lines(input: &[u8]) -> Vec<Line<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < input.len() {
        if input[at] == b'\n' || input[at] == b'\r' {
            found.push(Line { offset: start as u64, text: &input[start..at], ended: true });
            let pair = input[at..].starts_with(b"\r\n");
            start = at + if pair { 2 } else { 1 };
            at = start;
        } else {
            at += 1;
        }
    }
    if start < input.len() {
        found.push(Line { offset: start as u64, text: &input[start..], ended: false });
    }
    // "Streams must be decoded using the UTF-8 decode algorithm. Note: the UTF-8 decode algorithm strips one leading
    // UTF-8 Byte Order Mark (BOM), if any."  Ours: it counts for offsets, not for the limit.
    if let Some(first) = found.first_mut() {
        first.text = first.text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(first.text);
    }
    found
}
