use std::time::Duration;

use rail_config::settings::{Size, Tools};

use crate::{digits, size};

/// How much a call may take; all of it is configured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Calls that only read and run side by side.
    pub side_by_side: usize,
    /// Characters of output that reach the model.
    pub output_chars: usize,
    /// How long a command may take when the call does not say.
    pub command: Duration,
    /// How long a command may take at most.
    pub command_at_most: Duration,
    /// Commands that run in the background at once.
    pub background_commands: usize,
    /// Lines of a command's output that people are shown.
    pub preview_command_lines: usize,
    /// Lines of a change of files that people are shown.
    pub preview_diff_lines: usize,
    /// Bytes of a command's output that are kept in a file.
    pub output_file_bytes: u64,
    /// Bytes of a file that is changed.
    pub edit_bytes: u64,
    /// Lines of a changed file that the model is shown.
    pub edit_lines: usize,
    /// Entries of a folder that are listed.
    pub list_entries: usize,
    /// What is read of files.
    pub read: ReadLimits,
    /// What is shown of searches.
    pub search: SearchLimits,
}

/// How much is read of files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadLimits {
    /// Lines when the call does not say.
    pub lines: u64,
    /// Characters of a line.
    pub line_chars: usize,
    /// Bytes of a text that is read without a range of lines.
    pub text_bytes: usize,
    /// Bytes of a long text that are looked through to count its lines.
    pub counted_bytes: u64,
    /// Bytes of an image.
    pub image_bytes: usize,
    /// Pixels along the longer edge of an image.
    pub image_edge: u32,
    /// Images of one call.
    pub images: usize,
    /// Bytes of a notebook.
    pub notebook_bytes: usize,
    /// Bytes of a PDF.
    pub pdf_bytes: usize,
    /// Pages of a PDF whose text is read at once.
    pub pdf_pages: usize,
    /// Pages of a PDF that a model is shown at once.
    pub pdf_vision_pages: usize,
    /// Pixels along the longer edge of a page that a model is shown.
    pub pdf_edge: u32,
    /// Characters of a cell's source.
    pub cell_chars: usize,
    /// Characters of one output of a cell.
    pub cell_output_chars: usize,
    /// Files of one folder or pattern.
    pub files: usize,
    /// Lines that people are shown.
    pub preview_lines: usize,
}

/// How much is shown of searches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchLimits {
    /// Files that are listed at once.
    pub files: usize,
    /// Matches when the call does not say.
    pub matches: usize,
    /// Matches at most.
    pub matches_at_most: usize,
    /// Lines before and after a match at most.
    pub context: usize,
    /// Characters of a line.
    pub line_chars: usize,
    /// Lines of one match.
    pub match_lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self::from(&Tools::default())
    }
}

impl From<&Tools> for Limits {
    fn from(tools: &Tools) -> Self {
        Self {
            side_by_side: count(tools.max_concurrency),
            output_chars: count(tools.output_chars),
            command: tools.command_timeout.0,
            command_at_most: tools.max_command_timeout.0,
            background_commands: count(tools.background_commands),
            preview_command_lines: count(tools.preview_command_lines),
            preview_diff_lines: count(tools.preview_diff_lines),
            output_file_bytes: tools.max_output_file.0,
            edit_bytes: tools.edit_file.0,
            edit_lines: count(tools.edit_lines),
            list_entries: count(tools.list_entries),
            read: ReadLimits {
                lines: u64::from(tools.read_lines),
                line_chars: count(tools.read_line_chars),
                text_bytes: bytes(tools.read_text),
                counted_bytes: tools.max_counted_text.0,
                image_bytes: bytes(tools.read_image),
                image_edge: tools.read_image_edge,
                images: count(tools.read_images),
                notebook_bytes: bytes(tools.read_notebook),
                pdf_bytes: bytes(tools.read_pdf),
                pdf_pages: count(tools.pdf_pages),
                pdf_vision_pages: count(tools.pdf_vision_pages),
                pdf_edge: tools.pdf_edge,
                cell_chars: count(tools.cell_chars),
                cell_output_chars: count(tools.cell_output_chars),
                files: count(tools.read_files),
                preview_lines: count(tools.preview_lines),
            },
            search: SearchLimits {
                files: count(tools.search_files),
                matches: count(tools.search_matches),
                matches_at_most: count(tools.max_search_matches),
                context: count(tools.max_search_context),
                line_chars: count(tools.search_line_chars),
                match_lines: count(tools.search_match_lines),
            },
        }
    }
}

impl Limits {
    /// A text for the model with the limits in force: `{read_lines}` stands for the setting of that name.
    pub fn told(&self, text: &str) -> String {
        let millis = |time: Duration| time.as_millis().to_string();
        let named = [
            ("{read_lines}", digits(self.read.lines)),
            ("{read_line_chars}", digits(self.read.line_chars as u64)),
            ("{read_text}", size(self.read.text_bytes as u64)),
            ("{pdf_pages}", digits(self.read.pdf_pages as u64)),
            ("{pdf_vision_pages}", digits(self.read.pdf_vision_pages as u64)),
            ("{list_entries}", digits(self.list_entries as u64)),
            ("{search_files}", digits(self.search.files as u64)),
            ("{command_timeout}", millis(self.command)),
            ("{max_command_timeout}", millis(self.command_at_most)),
        ];
        named.iter().fold(text.to_owned(), |text, (name, said)| text.replace(name, said))
    }
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn bytes(size: Size) -> usize {
    usize::try_from(size.0).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_the_limits_in_force() {
        let mut limits = Limits::default();
        let text = "{read_lines}, {read_text}, {max_command_timeout}, `{a,b}`, {unknown}";
        assert_eq!(limits.told(text), "2,000, 256 KiB, 600000, `{a,b}`, {unknown}");
        limits.read.lines = 7;
        assert_eq!(limits.told("{read_lines}"), "7");
    }
}
