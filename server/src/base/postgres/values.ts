import { parse as parseArray } from 'postgres-array'

/** Values of statements. The type is sent where the database could not infer it. */
export type Value = string | number | bigint | boolean | Date | Uint8Array | null | readonly Value[] | Parameter

/** A value in the wire format: text, or bytes for a `bytea`. */
export type Wire = string | Buffer | null

/** A value with an explicit type. */
export class Parameter {
  readonly wire: Wire
  readonly type: number

  constructor(wire: Wire, type: number) {
    this.wire = wire
    this.type = type
  }
}

/** OIDs of built-in PostgreSQL types, which never change. */
export const oid = {
  bool: 16,
  bytea: 17,
  int8: 20,
  json: 114,
  timestamptz: 1184,
  jsonb: 3802,
  byteaArray: 1001,
  timestamptzArray: 1185,
} as const

/** Returns the OID, or 0 to let the database infer it. A date next to an interval would be inferred as an interval. */
export function typeOf(value: Value): number {
  if (typeof value === 'object' && value !== null) {
    if (value instanceof Date) return oid.timestamptz
    if (value instanceof Uint8Array) return oid.bytea
    return value instanceof Parameter ? value.type : 0
  }
  if (typeof value === 'boolean') return oid.bool
  return typeof value === 'bigint' ? oid.int8 : 0
}

export function toWire(value: Value): Wire {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
    case 'bigint':
      return String(value)
    case 'boolean':
      return value ? 't' : 'f'
  }
  if (value === null) return null
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return bufferOf(value)
  if (value instanceof Parameter) return value.wire
  if (Array.isArray(value)) return arrayLiteral(value)
  throw new TypeError('A statement cannot have an object as a value: use `sql.json(…)`, or one of its properties')
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Returns an array literal of PostgreSQL: `{a,"b c",null}`. */
function arrayLiteral(values: readonly Value[]): string {
  return `{${values.map(elementLiteral).join()}}`
}

function elementLiteral(value: Value): string {
  if (Array.isArray(value)) return arrayLiteral(value)
  const wire = toWire(value)
  if (wire === null) return 'null'
  if (typeof wire !== 'string') return `"\\\\x${wire.toString('hex')}"`
  return isPlain.test(wire) ? wire : `"${wire.replace(/["\\]/g, '\\$&')}"`
}

// Digits, ids and ISO times are most array elements and need no quotes. "null" doesn't match.
const isPlain = /^[\d.:TZ-][\da-f.:TZ-]*$/

/** Returns a `bytea[]` in the binary format: half as long as hex, which matters for hundreds of encrypted values. */
export const byteaArray = (values: readonly (Buffer | null)[]): Parameter =>
  binaryArray(oid.bytea, oid.byteaArray, values)

/** Returns a `timestamptz[]` in the binary format. */
export const timestampArray = (values: readonly (Date | null)[]): Parameter =>
  binaryArray(
    oid.timestamptz,
    oid.timestamptzArray,
    values.map((value) => value && microseconds(value)),
  )

const year2000 = Date.UTC(2000, 0, 1)

/** Returns microseconds since the year 2000. */
function microseconds(time: Date): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigInt64BE(BigInt(time.getTime() - year2000) * 1000n)
  return bytes
}

/** Writes a header, and each element after its length, which is -1 for null. */
function binaryArray(type: number, arrayType: number, values: readonly (Buffer | null)[]): Parameter {
  const hasNulls = values.includes(null) ? 1 : 0
  // Dimensions, null flag, element type; then size and lower bound. An empty array has no dimension.
  const head = values.length === 0 ? [0, 0, type] : [1, hasNulls, type, values.length, 1]
  let length = head.length * 4
  for (const value of values) length += 4 + (value?.length ?? 0)
  const wire = Buffer.allocUnsafe(length)
  let at = 0
  for (const number of head) at = wire.writeInt32BE(number, at)
  for (const value of values) {
    at = wire.writeInt32BE(value?.length ?? -1, at)
    if (value !== null) at += value.copy(wire, at)
  }
  return new Parameter(wire, arrayType)
}

type Parse = (text: string) => unknown

const asText: Parse = (text) => text
const readBool: Parse = (text) => text === 't'
const readBytes: Parse = (text) => Buffer.from(text.slice(2), 'hex')
const readJson: Parse = (text) => JSON.parse(text)
// Sessions are in UTC, and the text includes the offset.
const readTime: Parse = (text) => new Date(text)

/** Types, their array types, and how they are parsed. */
const types: readonly (readonly [type: number, array: number, parse: Parse])[] = [
  [oid.bool, 1000, readBool],
  [oid.bytea, oid.byteaArray, readBytes],
  // Amounts have at most 14 digits, and counts stay far below 2^53: both are exact as numbers.
  [oid.int8, 1016, Number],
  [21, 1005, Number],
  [23, 1007, Number],
  [26, 1028, Number],
  [700, 1021, Number],
  [701, 1022, Number],
  [1700, 1231, Number],
  [oid.json, 199, readJson],
  [oid.jsonb, 3807, readJson],
  [1082, 1182, readTime],
  [1114, 1115, readTime],
  [oid.timestamptz, oid.timestamptzArray, readTime],
  // Names, texts and ids.
  [19, 1003, asText],
  [25, 1009, asText],
  [1042, 1014, asText],
  [1043, 1015, asText],
  [2950, 2951, asText],
]
const parsers = new Map<number, Parse>()
for (const [type, array, parse] of types) {
  parsers.set(type, parse).set(array, (text) => parseArray(text, parse))
}

/** Returns the parser of a type; unknown types stay text. */
export const parserOf = (type: number): Parse => parsers.get(type) ?? asText
