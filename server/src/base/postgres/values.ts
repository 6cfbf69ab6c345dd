import { parse as parseArray } from 'postgres-array'

/** What a statement may carry. The database is told the type where it could not infer it from the statement. */
export type Value = string | number | bigint | boolean | Date | Uint8Array | null | readonly Value[] | Parameter

/** A value as it goes over the wire: text, or bytes for a `bytea`. */
export type Wire = string | Buffer | null

/** A value of which the caller says the type. */
export class Parameter {
  readonly wire: Wire
  readonly type: number

  constructor(wire: Wire, type: number) {
    this.wire = wire
    this.type = type
  }
}

/** The numbers by which PostgreSQL knows its own types: they never change. */
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

/** 0 where the database infers it. A date would be taken for an interval beside an interval, and so on. */
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
  throw new TypeError('A statement carries no objects: say `sql.json(…)`, or which of its properties is meant')
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** `{a,"b c",null}`: how PostgreSQL reads an array of any type. */
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

// Digits, ids and ISO times are most of what goes into arrays, and need no quotes. "null" has none of these.
const isPlain = /^[\d.:TZ-][\da-f.:TZ-]*$/

/**
 * A `bytea[]` as the database sends and takes it, without a digit to write, carry and read: half as long, and for
 * hundreds of sealed values a good part of what a statement costs on either side.
 */
export const byteaArray = (values: readonly (Buffer | null)[]): Parameter =>
  binaryArray(oid.bytea, oid.byteaArray, values)

/** A `timestamptz[]` in the same way. */
export const timestampArray = (values: readonly (Date | null)[]): Parameter =>
  binaryArray(
    oid.timestamptz,
    oid.timestamptzArray,
    values.map((value) => value && microseconds(value)),
  )

const year2000 = Date.UTC(2000, 0, 1)

/** Counted since the year 2000. */
function microseconds(time: Date): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigInt64BE(BigInt(time.getTime() - year2000) * 1000n)
  return bytes
}

/** A head, and each element behind its length, which is -1 for null. */
function binaryArray(type: number, arrayType: number, values: readonly (Buffer | null)[]): Parameter {
  const hasNulls = values.includes(null) ? 1 : 0
  // How many dimensions, whether nulls are among them, the type of the elements; how many, counted from 1. None has no dimension.
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
// Sessions are in UTC: what is written of a time always says so.
const readTime: Parse = (text) => new Date(text)

/** Types, the types of their arrays, and how they are read. */
const types: readonly (readonly [type: number, array: number, parse: Parse])[] = [
  [oid.bool, 1000, readBool],
  [oid.bytea, oid.byteaArray, readBytes],
  // Amounts have at most 14 digits and counts stay far below 2^53: both are exact as numbers.
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
  // Names, texts, ids.
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

/** How to read a value of this type; what is unknown stays text. */
export const parserOf = (type: number): Parse => parsers.get(type) ?? asText
