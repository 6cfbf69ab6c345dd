import { Type } from 'typebox'
import { maxMessageLength, nullable, oneOf, timestamp, titled } from '../../../base/route.ts'
import { count, text, uuid, wholeNumber } from '../../../base/schema-types.ts'
import { closed, idSchema, workspaceParams } from '../../../team/team-schema.ts'
import { maxTextLength } from '../../lead/custom-fields.ts'
import { chosenFields } from '../file/field-values.ts'
import { encodings, maxRecordBytes } from '../file/file-rows.ts'
import { importStates, maxFileBytes } from './imports.ts'
import { maxValueLength, maxValues } from './preview.ts'
import { matchers } from './settings.ts'

const encoding = oneOf(encodings, {
  title: 'FileEncoding',
  description:
    'How the file spells letters; `windows-1252` covers Latin-1. Unless sent: UTF-16 where the file begins so, else UTF-8.',
})
const delimiter = oneOf([',', ';', '\t'], {
  title: 'Delimiter',
  description: 'CSV: what stands between cells. Found out unless sent.',
})
const match = oneOf(matchers, {
  title: 'ImportMatcher',
  description:
    'The field by which a row finds its lead, as in upsert; the row must have it. `none` makes a lead of every row. `id` is for NDJSON.',
  example: 'phone',
})
const emptyCells = oneOf(['keep', 'clear'], {
  title: 'EmptyCells',
  description:
    'What an empty cell of a CSV file does to a lead that is there: nothing (the default), or clear the field.',
})
const field = (description: string) => text(1000, description)
const cell = (description: string) => text(maxRecordBytes, description)
const splitNames = (options: object = {}) =>
  Type.Boolean({
    description:
      'Whether a first name of several words is split where the row has no last name: the first word, and the rest. Default false.',
    ...options,
  })
const decimal = oneOf(['.', ','], {
  title: 'DecimalSign',
  description:
    'What stands before the cents of amounts. Without it, an amount that could be read in two ways, as `1.500`, is refused.',
})
const meaning = (description: string, maxLength = 100) =>
  Type.Record(Type.String(), Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength }), {
    maxProperties: 1000,
    description,
  })
const values = Type.Object(
  {
    status: Type.Optional(meaning('To one of the statuses of the workspace.')),
    priority: Type.Optional(meaning('To a priority.')),
    source: Type.Optional(meaning('To a source.')),
    adPlatform: Type.Optional(meaning('To an ad platform.')),
    assignedTo: Type.Optional(meaning('To the id or e-mail of a member.')),
  },
  {
    ...closed,
    title: 'ImportValues',
    description:
      'What the values of the file stand for, whatever their case; null leaves the field of such a row out. A status that is neither here nor one of the workspace is refused: an import makes no new ones.',
    example: { status: { ganho: 'won', perdido: 'lost', arquivado: null } },
  },
)
const fieldValues = Type.Record(Type.String(), meaning('To one of the options of the field.', maxTextLength), {
  maxProperties: 200,
  description:
    'The same for fields that the workspace defines with options, by `k_…` or `customFieldValues.…`. Of a field that takes several, each of the options that a cell names. What is neither here nor an option is refused.',
  example: { 'customFieldValues.plan': { ouro: 'Gold', nenhum: null } },
})
const labels = Type.Record(Type.String(), Type.String({ maxLength: 200 }), {
  maxProperties: 200,
  description:
    'CSV: what custom fields are called, by `k_…` or `customFieldValues.…`. Default: the heading of the column. A field that a lead has already keeps its name.',
  example: { k_cidade: 'Cidade' },
})
// As many as fit into the longest record.
const columns = { maxItems: maxRecordBytes }
const column = titled('ImportColumn', {
  name: cell('The heading; repeated and empty ones get a number.'),
  target: nullable(
    Type.String({
      maxLength: 100,
      description: 'The field that the column fills: one of a lead, `k_…`, or `customFieldValues.…`; null for none.',
    }),
  ),
})

export const Import = Type.Object(
  {
    id: idSchema('The import.'),
    fileName: text(255, 'As it was told.'),
    format: oneOf(['csv', 'ndjson']),
    state: oneOf(importStates, {
      title: 'ImportState',
      description:
        '`uploading` until every byte is there, then `ready`; `running`; `paused` until the daily lead quota is new; then `checked` (a dry run, which may be started again), `done`, `failed` (see `problem`) or `cancelled`.',
    }),
    dryRun: Type.Boolean({ description: 'Whether the last start was a dry run: nothing was written.' }),
    sizeBytes: wholeNumber('Bytes of the whole file.'),
    uploadedBytes: wholeNumber('Bytes that have arrived: a broken upload goes on here.'),
    doneBytes: wholeNumber('Bytes of the file that are done.'),
    rows: count('Rows of data that are done.'),
    created: count('Rows that made a lead, or would.'),
    updated: count('Rows that changed a lead, or would.'),
    unchanged: count('Rows whose lead was so already.'),
    refused: count('Rows that were refused; they are in the file of refused rows.'),
    rowsPerSecond: count('On average since the start.'),
    refusals: Type.Object({
      kinds: Type.Array(
        Type.Object({
          field: field('Empty for the whole row.'),
          message: text(maxMessageLength, 'What is wrong with it.'),
          count: count('How many rows.'),
        }),
        { maxItems: 50 },
      ),
      examples: Type.Array(
        Type.Object({
          row: count('Counted as a spreadsheet does, the header of a CSV file being 1; blank lines do not count.'),
          field: field('As above.'),
          message: text(maxMessageLength, 'What is wrong with it.'),
        }),
        { maxItems: 20, description: 'The first ones.' },
      ),
    }),
    choice: Type.Unsafe<object | null>({
      ...titled('ImportChoice', {
        encoding,
        delimiter,
        match,
        createIfMissing: Type.Boolean(),
        emptyCells,
        values,
        fieldValues,
        splitNames: splitNames(),
        decimal: nullable(decimal),
        labels,
        columns: Type.Array(column, columns),
      }),
      type: ['object', 'null'],
      description: 'What was chosen at the last start; null before it.',
    }),
    problem: nullable(text(1000, 'Why it failed. Rows before that are written.')),
    resumesAt: nullable(timestamp('When a paused import goes on.')),
    startedBy: Type.Object({ type: oneOf(['user', 'token']), id: uuid('Of the user or token.') }),
    createdAt: timestamp('When it was made.'),
    startedAt: nullable(timestamp('When it was last started.')),
    endedAt: nullable(timestamp('When it ended.')),
    undo: nullable(
      titled('ImportUndo', {
        state: oneOf(['possible', 'undoing', 'undone', 'over']),
        leads: count('Leads that the import has created or changed.'),
        undone: count('How many are as they were; those that it created are deleted, restorable for 30 days.'),
        kept: count('How many were left as they are, since somebody changed them in between.'),
        until: nullable(timestamp('Until when it can be undone; null when it cannot be.')),
      }),
    ),
    filesUntil: nullable(
      timestamp(
        'When the refused rows are removed, and the file with them; that of an import that ended is gone at once.',
      ),
    ),
  },
  { title: 'Import' },
)
export const OneImport = Type.Object({ import: Import })

export const importParams = Type.Object({ ...workspaceParams, importId: idSchema('The import.') })

export const NewImportBody = Type.Object(
  {
    fileName: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'For people to know it by.',
      example: 'fair.csv',
    }),
    size: Type.Integer({ minimum: 1, maximum: maxFileBytes, description: 'Bytes of the file, 1 GiB at most.' }),
    format: Type.Optional(
      oneOf(['csv', 'ndjson'], {
        description:
          'CSV with a header row, or a JSON object a line as the leads interface shows leads. Default `csv`.',
      }),
    ),
  },
  closed,
)

export const UploadQuery = Type.Object(
  { offset: wholeNumber('Where in the file the body begins, in bytes.', { example: 0 }) },
  closed,
)

export const PreviewQuery = Type.Object(
  { encoding: Type.Optional(encoding), delimiter: Type.Optional(delimiter) },
  closed,
)

export const Preview = titled('ImportPreview', {
  encoding,
  delimiter,
  columns: Type.Array(column, {
    ...columns,
    description: 'With the fields proposed by their names; empty for NDJSON.',
  }),
  rows: Type.Array(Type.Array(cell('As it stands there.'), columns), {
    maxItems: 10,
    description: 'The cells of the first 10 rows; NDJSON: the lines.',
  }),
})

export const ValuesQuery = Type.Object(
  {
    column: Type.String({ maxLength: 10_000, description: 'CSV: the heading. NDJSON: the name of the field.' }),
    field: Type.String({
      maxLength: 60,
      pattern: `^(?:${chosenFields.join('|')}|k_[a-z0-9_]{1,38}|customFieldValues\\.[a-z][a-z0-9_]{0,39})$`,
      description: `What the column is to fill: ${chosenFields.join(', ')}, or a field with options that the workspace defines, as \`k_…\` or \`customFieldValues.…\`.`,
      example: 'status',
    }),
    encoding: Type.Optional(encoding),
    delimiter: Type.Optional(delimiter),
  },
  closed,
)

export const ColumnValues = titled('ImportColumnValues', {
  values: Type.Array(
    Type.Object({
      text: text(maxValueLength, 'As the file has it first; of a field that takes several, one of them.'),
      count: count('In how many rows.'),
      value: nullable(text(maxTextLength, 'What it probably stands for; null when nothing suggests itself.')),
    }),
    { maxItems: maxValues, description: 'The most frequent first; whatever the case.' },
  ),
  isWhole: Type.Boolean({
    description: 'Whether these are all: at most 100 values of 200 characters, from the first 32 MiB.',
  }),
})

export const StartBody = Type.Object(
  {
    match,
    mapping: Type.Optional(
      Type.Record(Type.String(), Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 100 }), {
        description: 'CSV: heading to field, for columns that are to fill another field than the proposed one.',
        example: { 'Full name': 'firstName' },
      }),
    ),
    createIfMissing: Type.Optional(
      Type.Boolean({ description: 'Default true. When false, rows without a lead are refused.' }),
    ),
    emptyCells: Type.Optional(emptyCells),
    values: Type.Optional(values),
    fieldValues: Type.Optional(fieldValues),
    splitNames: Type.Optional(splitNames()),
    decimal: Type.Optional(decimal),
    labels: Type.Optional(labels),
    encoding: Type.Optional(encoding),
    delimiter: Type.Optional(delimiter),
    dryRun: Type.Optional(Type.Boolean({ description: 'Do everything but write. Default false.' })),
  },
  closed,
)
