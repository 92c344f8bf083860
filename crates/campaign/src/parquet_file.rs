//! The rows of a part as a Parquet file: a column for each field, none optional, in one row group, compressed by Zstandard.
//!
//! Whoever writes the same rows writes the same bytes. Reading is bounded: by the bytes that the caller hands over, by the rows
//! that the footer may claim, and by a guard around the reader, which has panicked on hostile files before.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::manifest::Manifest;
use crate::row::Row;

/// The columns of numbers, in their order in the file, before those of texts.
const NUMBERS: [&str; 11] =
    ["row", "trial", "launch", "thread", "place", "line", "ptx_line", "bit", "before", "after", "width"];
/// The columns of texts.
const TEXTS: [&str; 11] = [
    "campaign",
    "kernel",
    "model",
    "variant",
    "unprotected",
    "outcome",
    "note",
    "instruction",
    "thread_name",
    "file",
    "address_map",
];
/// Of these, what a summary needs.
const ROW: usize = 0;
const UNPROTECTED: usize = 4;
const OUTCOME: usize = 5;
/// What stands for the bit of a trial in which nothing was struck.
const NO_BIT: i64 = -1;
/// Larger files are not read.
const MAX_BYTES: usize = 1 << 30;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// It is not Parquet, or its end is missing.
    #[error("it is no Parquet file, or a part of one: {0}")]
    Parquet(String),
    /// The reader gave up.
    #[error("it is no Parquet file that could be read")]
    Unreadable,
    /// It is something else.
    #[error("it is not a part of a campaign: {0}")]
    Shape(String),
}

impl From<ParquetError> for PartError {
    fn from(error: ParquetError) -> Self {
        Self::Parquet(error.to_string())
    }
}

/// The columns of a file that were asked for; empty if they were not.
#[derive(Default)]
pub struct Columns {
    numbers: [Vec<i64>; NUMBERS.len()],
    texts: [Vec<ByteArray>; TEXTS.len()],
}

impl fmt::Debug for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Columns of {} rows", self.numbers[ROW].len())
    }
}

/// Makes a file of the rows of a part.
pub fn encode(manifest: &Manifest, rows: &[Row]) -> Result<Vec<u8>, PartError> {
    let level = ZstdLevel::try_new(3)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(None)
        // Of a thousand rows nothing is skipped: what would say where would be larger than they are.
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema()?, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for index in 0..NUMBERS.len() {
        let values: Vec<i64> = rows.iter().map(|row| number_of(manifest, row, index)).collect();
        let mut column = group.next_column()?.ok_or_else(|| wrong("a column is missing"))?;
        column.typed::<Int64Type>().write_batch(&values, None, None)?;
        column.close()?;
    }
    let campaign = manifest.id();
    for index in 0..TEXTS.len() {
        let values: Vec<ByteArray> =
            rows.iter().map(|row| ByteArray::from(text_of(manifest, &campaign, row, index))).collect();
        let mut column = group.next_column()?.ok_or_else(|| wrong("a column is missing"))?;
        column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        column.close()?;
    }
    group.close()?;
    Ok(writer.into_inner()?)
}

fn wrong(what: &str) -> PartError {
    PartError::Shape(what.to_owned())
}

fn schema() -> Result<Arc<Type>, PartError> {
    let mut fields = Vec::new();
    for name in NUMBERS {
        let is_signed = name == "bit";
        let column = Type::primitive_type_builder(name, PhysicalType::INT64).with_repetition(Repetition::REQUIRED);
        let column = column.with_logical_type(Some(LogicalType::integer(64, is_signed)));
        fields.push(Arc::new(column.build()?));
    }
    for name in TEXTS {
        let column = Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY).with_repetition(Repetition::REQUIRED);
        fields.push(Arc::new(column.with_logical_type(Some(LogicalType::String)).build()?));
    }
    Ok(Arc::new(Type::group_type_builder("trial").with_fields(fields).build()?))
}

fn number_of(manifest: &Manifest, row: &Row, index: usize) -> i64 {
    // Parquet has unsigned numbers as signed ones with the same bits.
    match NUMBERS[index] {
        "row" => row.row as i64,
        "trial" => row.trial as i64,
        "launch" => row.launch as i64,
        "thread" => row.thread as i64,
        "place" => row.place as i64,
        "line" => row.line as i64,
        "ptx_line" => row.ptx_line as i64,
        "bit" => row.bit.map_or(NO_BIT, i64::from),
        "before" => row.before as i64,
        "after" => row.after as i64,
        _ => manifest.width.into(),
    }
}

fn text_of<'a>(manifest: &'a Manifest, campaign: &'a str, row: &'a Row, index: usize) -> &'a str {
    match TEXTS[index] {
        "campaign" => campaign,
        "kernel" => &row.kernel,
        "model" => &row.model,
        "variant" => &row.variant,
        "unprotected" => &row.unprotected,
        "outcome" => &row.outcome,
        "note" => &row.note,
        "instruction" => &row.instruction,
        "thread_name" => &row.thread_name,
        "file" => &row.file,
        _ => &manifest.address_map,
    }
}

/// Reads all columns of a file that has no more rows than so many.
pub fn decode_columns(bytes: Vec<u8>, most_rows: u64) -> Result<Columns, PartError> {
    read(bytes, most_rows, |_| true)
}

/// Reads what a summary needs, and whose campaign it is.
pub(crate) fn decode_outcomes(bytes: Vec<u8>, most_rows: u64) -> Result<Columns, PartError> {
    read(bytes, most_rows, |name| ["row", "campaign", "unprotected", "outcome"].contains(&name))
}

/// Reads rows.
pub fn decode(bytes: Vec<u8>, most_rows: u64) -> Result<Vec<Row>, PartError> {
    let columns = decode_columns(bytes, most_rows)?;
    (0..columns.len()).map(|index| columns.row(index)).collect()
}

fn read(bytes: Vec<u8>, most_rows: u64, wants: fn(&str) -> bool) -> Result<Columns, PartError> {
    if bytes.len() > MAX_BYTES {
        return Err(wrong("it has more than 1 GiB"));
    }
    // The reader checks much, but not all: what it overlooks is a wrong index or an overflow, in safe code.
    catch_unwind(AssertUnwindSafe(|| read_unguarded(bytes, most_rows, wants))).unwrap_or(Err(PartError::Unreadable))
}

fn read_unguarded(bytes: Vec<u8>, most_rows: u64, wants: fn(&str) -> bool) -> Result<Columns, PartError> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes))?;
    let metadata = reader.metadata();
    let described = metadata.file_metadata().schema_descr();
    let names = || NUMBERS.iter().chain(&TEXTS);
    let has_all = described.num_columns() == names().count()
        && described.columns().iter().zip(names()).enumerate().all(|(index, (column, name))| {
            let wanted = if index < NUMBERS.len() { PhysicalType::INT64 } else { PhysicalType::BYTE_ARRAY };
            column.name() == *name
                && column.path().parts().len() == 1
                && column.physical_type() == wanted
                && column.max_def_level() == 0
                && column.max_rep_level() == 0
        });
    if !has_all {
        return Err(wrong("it has other columns"));
    }
    let mut columns = Columns::default();
    let mut rows = 0;
    for group in 0..metadata.num_row_groups() {
        let of_group = u64::try_from(metadata.row_group(group).num_rows()).unwrap_or(u64::MAX);
        rows = of_group.saturating_add(rows);
        if rows > most_rows {
            return Err(wrong("it has more rows than a part"));
        }
        let group = reader.get_row_group(group)?;
        for (index, name) in names().enumerate().filter(|(_, name)| wants(name)) {
            debug_assert!(!name.is_empty());
            let column = group.get_column_reader(index)?;
            match index.checked_sub(NUMBERS.len()) {
                None => read_column::<Int64Type>(column, of_group, &mut columns.numbers[index])?,
                Some(index) => read_column::<ByteArrayType>(column, of_group, &mut columns.texts[index])?,
            }
        }
    }
    Ok(columns)
}

fn read_column<T: DataType>(
    column: parquet::column::reader::ColumnReader,
    rows: u64,
    values: &mut Vec<T::T>,
) -> Result<(), PartError> {
    let mut reader = parquet::column::reader::get_typed_column_reader::<T>(column);
    let rows = usize::try_from(rows).map_err(|_| wrong("it has too many rows"))?;
    let before = values.len();
    let (_, read, _) = reader.read_records(rows, None, None, values)?;
    if read != rows || values.len() != before + rows {
        return Err(wrong("a column has fewer values than there are rows"));
    }
    Ok(())
}

impl Columns {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.numbers[ROW].len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of a row in the campaign.
    pub(crate) fn number(&self, index: usize) -> u64 {
        self.numbers[ROW][index] as u64
    }

    /// Whether all rows are of a campaign.
    pub(crate) fn are_of(&self, campaign: &str) -> bool {
        self.texts[0].iter().all(|text| text.data() == campaign.as_bytes())
    }

    /// What came of a trial in the kernel as it is, and in the variant.
    pub(crate) fn outcomes(&self, index: usize) -> [&[u8]; 2] {
        [UNPROTECTED, OUTCOME].map(|column| self.texts[column][index].data())
    }

    /// Whether a row is of this kernel, model and variant, and of this trial.
    pub(crate) fn is_of(&self, index: usize, kernel: &str, model: &str, variant: &str, trial: u64) -> bool {
        self.numbers[1][index] as u64 == trial
            && [kernel, model, variant]
                .iter()
                .zip(1..)
                .all(|(of, column)| self.texts[column][index].data() == of.as_bytes())
    }

    /// A hash of a row.
    pub(crate) fn hash(&self, index: usize) -> u64 {
        let mut hasher = blake3::Hasher::new();
        for column in &self.numbers {
            hasher.update(&column[index].to_le_bytes());
        }
        for column in &self.texts[1..] {
            let text = column[index].data();
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text);
        }
        u64::from_le_bytes(hasher.finalize().as_bytes()[..8].try_into().expect("eight bytes"))
    }

    fn row(&self, index: usize) -> Result<Row, PartError> {
        let number = |name: &str| {
            NUMBERS.iter().position(|known| *known == name).map_or(0, |column| self.numbers[column][index])
        };
        let text = |name: &str| {
            let column = TEXTS.iter().position(|known| *known == name).map_or(0, |column| column);
            let text = self.texts[column][index].as_utf8().map_err(|_| wrong("a text is no UTF-8"))?;
            Ok::<String, PartError>(text.to_owned())
        };
        Ok(Row {
            row: number("row") as u64,
            kernel: text("kernel")?,
            model: text("model")?,
            variant: text("variant")?,
            trial: number("trial") as u64,
            launch: number("launch") as u64,
            thread: number("thread") as u64,
            place: number("place") as u64,
            thread_name: text("thread_name")?,
            file: text("file")?,
            line: number("line") as u64,
            ptx_line: number("ptx_line") as u64,
            instruction: text("instruction")?,
            bit: u32::try_from(number("bit")).ok(),
            before: number("before") as u64,
            after: number("after") as u64,
            unprotected: text("unprotected")?,
            outcome: text("outcome")?,
            note: text("note")?,
        })
    }
}
