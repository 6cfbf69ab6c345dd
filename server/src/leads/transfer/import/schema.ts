import { Type } from 'typebox'
import { maxMessageLength, nullable, oneOf, timestamp, titled } from '../../../base/route.ts'
import { count, text, uuid, wholeNumber } from '../../../base/schema-types.ts'
import { closed, idSchema, workspaceParams } from '../../../team/team-schema.ts'
import { maxTextLength } from '../../lead/custom-fields.ts'
import { choiceFields } from '../file/field-values.ts'
import { encodings, maxRecordBytes } from '../file/file-rows.ts'
import { importStates, maxFileBytes } from './imports.ts'
import { matchers } from './matchers.ts'
import { maxValueLength, maxValues } from './preview.ts'

const encoding = oneOf(encodings, {
  title: 'FileEncoding',
  description:
    'Character encoding; `windows-1252` includes Latin-1. Default: UTF-16 if the file starts like it, else UTF-8.',
})
const delimiter = oneOf([',', ';', '\t'], {
  title: 'Delimiter',
  description: 'CSV: the cell separator. Default: detected.',
})
const match = oneOf(matchers, {
  title: 'ImportMatcher',
  description:
    'The field that matches a row with a lead, as in upsert; every row must have it. `none` creates a lead for every row. `id` is only for NDJSON.',
  example: 'phone',
})
const emptyCells = oneOf(['keep', 'clear'], {
  title: 'EmptyCells',
  description: 'Effect of an empty CSV cell on an existing lead: `keep` (default) leaves the field, `clear` clears it.',
})
const field = (description: string) => text(1000, description)
const cell = (description: string) => text(maxRecordBytes, description)
const splitNames = (options: object = {}) =>
  Type.Boolean({
    description: 'If a row has no last name, splits its first name after the first word. Default false.',
    ...options,
  })
const decimal = oneOf(['.', ','], {
  title: 'DecimalSign',
  description: 'Decimal separator of amounts. Without it, ambiguous amounts such as `1.500` are rejected.',
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
      'Mapping of values in the file, ignoring case; null leaves the field out. A status that is neither mapped nor one of the workspace is rejected: an import does not create statuses.',
    example: { status: { ganho: 'won', perdido: 'lost', arquivado: null } },
  },
)
const fieldValues = Type.Record(Type.String(), meaning('To one of the options of the field.', maxTextLength), {
  maxProperties: 200,
  description:
    'Mapping for fields that the workspace defines with choices, by `k_…` or `customFieldValues.…`. For a multiselect, maps each choice in a cell. A value that is neither mapped nor a choice is rejected.',
  example: { 'customFieldValues.plan': { ouro: 'Gold', nenhum: null } },
})
const labels = Type.Record(Type.String(), Type.String({ maxLength: 200 }), {
  maxProperties: 200,
  description:
    'CSV: labels of custom fields, by `k_…` or `customFieldValues.…`. Default: the column heading. A field that a lead already has keeps its label.',
  example: { k_cidade: 'Cidade' },
})
// As many columns as fit into the longest record.
const columns = { maxItems: maxRecordBytes }
const column = titled('ImportColumn', {
  name: cell('The heading; repeated and empty headings get a number.'),
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
    fileName: text(255, 'File name as sent.'),
    format: oneOf(['csv', 'ndjson']),
    state: oneOf(importStates, {
      title: 'ImportState',
      description:
        '`uploading` until the file is complete, then `ready`; `running`; `paused` until the daily lead quota renews; then `checked` (a dry run, which can be started again), `done`, `failed` (see `problem`) or `cancelled`.',
    }),
    dryRun: Type.Boolean({ description: 'True if the last start was a dry run, which writes nothing.' }),
    sizeBytes: wholeNumber('Bytes of the whole file.'),
    uploadedBytes: wholeNumber('Bytes uploaded; an interrupted upload continues here.'),
    doneBytes: wholeNumber('Bytes of the file that were processed.'),
    rows: count('Rows processed.'),
    created: count('Rows that created a lead, or would.'),
    updated: count('Rows that changed a lead, or would.'),
    unchanged: count('Rows whose lead already had the values.'),
    refused: count('Rows that were rejected; they can be downloaded.'),
    rowsPerSecond: count('Average since the start.'),
    refusals: Type.Object({
      kinds: Type.Array(
        Type.Object({
          field: field('The field; empty for the whole row.'),
          message: text(maxMessageLength, 'What is wrong with it.'),
          count: count('Number of rows.'),
        }),
        { maxItems: 50 },
      ),
      examples: Type.Array(
        Type.Object({
          row: count('Row number as in spreadsheets: the header of a CSV file is 1. Blank lines are not counted.'),
          field: field('The field; empty for the whole row.'),
          message: text(maxMessageLength, 'What is wrong with it.'),
        }),
        { maxItems: 20, description: 'The first 20.' },
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
      description: 'Settings of the last start; null before it.',
    }),
    problem: nullable(text(1000, 'Why it failed. Rows before the problem were written.')),
    resumesAt: nullable(timestamp('When a paused import resumes.')),
    startedBy: Type.Object({ type: oneOf(['user', 'token']), id: uuid('Id of the user or token.') }),
    createdAt: timestamp('When it was created.'),
    startedAt: nullable(timestamp('When it was last started.')),
    endedAt: nullable(timestamp('When it ended.')),
    undo: nullable(
      titled('ImportUndo', {
        state: oneOf(['possible', 'undoing', 'undone', 'over']),
        leads: count('Leads that the import has created or changed.'),
        undone: count('Leads reverted; created leads are deleted and can be restored for 30 days.'),
        kept: count('Leads left as they are because they were changed since.'),
        until: nullable(timestamp('Until when it can be undone; null if it cannot.')),
      }),
    ),
    filesUntil: nullable(
      timestamp('When the rejected rows and the file are deleted. The file of a finished import is deleted at once.'),
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
      description: 'File name, shown to people.',
      example: 'fair.csv',
    }),
    size: Type.Integer({ minimum: 1, maximum: maxFileBytes, description: 'Bytes of the file, 1 GiB at most.' }),
    format: Type.Optional(
      oneOf(['csv', 'ndjson'], {
        description:
          'CSV with a header row, or NDJSON with leads as in the leads interface, one per line. Default `csv`.',
      }),
    ),
  },
  closed,
)

export const UploadQuery = Type.Object(
  { offset: wholeNumber('Position of the body in the file, in bytes.', { example: 0 }) },
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
    description: 'With the fields proposed for their names; empty for NDJSON.',
  }),
  rows: Type.Array(Type.Array(cell('Text of the cell.'), columns), {
    maxItems: 10,
    description: 'The cells of the first 10 rows; NDJSON: the lines.',
  }),
})

export const ValuesQuery = Type.Object(
  {
    column: Type.String({ maxLength: 10_000, description: 'CSV: the heading. NDJSON: the field name.' }),
    field: Type.String({
      maxLength: 60,
      pattern: `^(?:${choiceFields.join('|')}|k_[a-z0-9_]{1,38}|customFieldValues\\.[a-z][a-z0-9_]{0,39})$`,
      description: `The target field of the column: ${choiceFields.join(', ')}, or a field with choices that the workspace defines, as \`k_…\` or \`customFieldValues.…\`.`,
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
      text: text(maxValueLength, 'First spelling in the file; for a multiselect, a single choice.'),
      count: count('Number of occurrences.'),
      value: nullable(text(maxTextLength, 'Probable value; null if there is no proposal.')),
    }),
    { maxItems: maxValues, description: 'Most frequent first; differences in case are ignored.' },
  ),
  isWhole: Type.Boolean({
    description: 'True if all values are listed: at most 100 values of up to 200 characters, from the first 32 MiB.',
  }),
})

export const StartBody = Type.Object(
  {
    match,
    mapping: Type.Optional(
      Type.Record(Type.String(), Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 100 }), {
        description: 'CSV: heading to field, for columns that should fill another field than the proposed one.',
        example: { 'Full name': 'firstName' },
      }),
    ),
    createIfMissing: Type.Optional(
      Type.Boolean({ description: 'Default true. If false, rows without a matching lead are rejected.' }),
    ),
    emptyCells: Type.Optional(emptyCells),
    values: Type.Optional(values),
    fieldValues: Type.Optional(fieldValues),
    splitNames: Type.Optional(splitNames()),
    decimal: Type.Optional(decimal),
    labels: Type.Optional(labels),
    encoding: Type.Optional(encoding),
    delimiter: Type.Optional(delimiter),
    dryRun: Type.Optional(Type.Boolean({ description: 'Checks the rows without writing. Default false.' })),
  },
  closed,
)
