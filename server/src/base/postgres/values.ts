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
export function arrayLiteral(values: readonly Value[]): string {
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
export function byteaArray(values: readonly (Buffer | null)[]): Parameter {
  let length = headBytes
  for (const value of values) length += lengthBytes + (value?.length ?? 0)
  const wire = arrayHead(length, oid.bytea, values)
  let at = headBytes
  for (const value of values) {
    at = wire.writeInt32BE(value?.length ?? -1, at)
    if (value !== null) at += value.copy(wire, at)
  }
  return new Parameter(values.length === 0 ? noElements(oid.bytea) : wire, oid.byteaArray)
}

/** A `timestamptz[]` in the same way: microseconds since the year 2000. */
export function timestampArray(values: readonly (Date | null)[]): Parameter {
  const known = values.filter((value) => value !== null).length
  const wire = arrayHead(headBytes + values.length * lengthBytes + known * timeBytes, oid.timestamptz, values)
  let at = headBytes
  for (const value of values) {
    at = wire.writeInt32BE(value === null ? -1 : timeBytes, at)
    if (value !== null) at = wire.writeBigInt64BE(BigInt(value.getTime() - year2000) * 1000n, at)
  }
  return new Parameter(values.length === 0 ? noElements(oid.timestamptz) : wire, oid.timestamptzArray)
}

const [headBytes, lengthBytes, timeBytes] = [20, 4, 8]
const year2000 = Date.UTC(2000, 0, 1)

/** How many dimensions, whether nulls are among them, the type of the elements; how many, counted from 1. */
function arrayHead(length: number, type: number, values: readonly unknown[]): Buffer {
  const wire = Buffer.allocUnsafe(length)
  const head = [1, values.includes(null) ? 1 : 0, type, values.length, 1]
  for (const [n, number] of head.entries()) wire.writeInt32BE(number, n * 4)
  return wire
}

/** An empty array has no dimension. */
function noElements(type: number): Buffer {
  const wire = Buffer.alloc(12)
  wire.writeInt32BE(type, 8)
  return wire
}

type Parse = (text: string) => unknown

const readBytes: Parse = (text) => Buffer.from(text.slice(2), 'hex')
const readJson: Parse = (text) => JSON.parse(text)
const asText: Parse = (text) => text

/** `2026-11-22 18:44:44.123+00`: sessions are in UTC, so that the digits are all there is to read. */
function readTime(text: string): Date {
  const isUtc = text.endsWith('+00') && text[4] === '-' && text.length >= 22 && text.length <= 29
  if (!isUtc) return new Date(text)
  return new Date(
    Date.UTC(
      digits(text, 0, 4),
      digits(text, 5, 7) - 1,
      digits(text, 8, 10),
      digits(text, 11, 13),
      digits(text, 14, 16),
      digits(text, 17, 19),
      text.length === 26 ? digits(text, 20, 23) : Number(text.slice(20, -3).padEnd(3, '0').slice(0, 3)),
    ),
  )
}

function digits(text: string, from: number, to: number): number {
  let number = 0
  for (let at = from; at < to; at++) number = number * 10 + text.charCodeAt(at) - 48
  return number
}

// Amounts have at most 14 digits and counts stay far below 2^53: both are exact as numbers.
const parsers = new Map<number, Parse>([
  [16, (text) => text === 't'],
  [17, readBytes],
  [20, Number],
  [21, Number],
  [23, Number],
  [26, Number],
  [700, Number],
  [701, Number],
  [1700, Number],
  [114, readJson],
  [3802, readJson],
  [1082, (text) => new Date(text)],
  [1114, (text) => new Date(text)],
  [1184, readTime],
])

/** The array types, with that of their elements. */
const arrays: readonly (readonly [array: number, element: number])[] = [
  [1000, 16],
  [1001, 17],
  [1016, 20],
  [1005, 21],
  [1007, 23],
  [1028, 26],
  [1021, 700],
  [1022, 701],
  [1231, 1700],
  [199, 114],
  [3807, 3802],
  [1182, 1082],
  [1115, 1114],
  [1185, 1184],
  // Names, texts, ids.
  [1003, 19],
  [1009, 25],
  [1014, 1042],
  [1015, 1043],
  [2951, 2950],
]
for (const [array, element] of arrays) {
  const parse = parsers.get(element) ?? asText
  parsers.set(array, (text) => parseArray(text, parse))
}

/** How to read a value of this type; what is unknown stays text. */
export const parserOf = (type: number): Parse => parsers.get(type) ?? asText
