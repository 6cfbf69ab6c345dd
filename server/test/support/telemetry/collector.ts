import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { atEnd } from '../file-lifecycle.ts'
import { type Field, fieldsOf, hexOf, textOf } from './protobuf.ts'

export interface SeenSpan {
  traceId: string
  spanId: string
  parentId: string
  name: string
  attributes: Record<string, string>
  isError: boolean
  links: string[]
}

export interface SeenMetric {
  name: string
  series: Record<string, string>[]
}

export interface Collector {
  url: string
  /** Raw request bodies. */
  bodies: Buffer[]
  headers: Record<string, string>[]
  spans(): SeenSpan[]
  metrics(): SeenMetric[]
  /** Resource attributes of the process. */
  resource(): Record<string, string>
  answer(how: 'take' | 'refuse' | 'wait'): void
}

/** Starts a collector that accepts OTLP over HTTP. */
export async function startCollector(): Promise<Collector> {
  const taken: { path: string; body: Buffer }[] = []
  const headers: Record<string, string>[] = []
  let how: 'take' | 'refuse' | 'wait' = 'take'
  const server = createServer(async (request, response) => {
    taken.push({ path: request.url ?? '', body: await buffer(request) })
    headers.push(request.headers as Record<string, string>)
    if (how === 'wait') return
    response.writeHead(how === 'take' ? 200 : 400, { 'content-type': 'application/x-protobuf' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  const of = (path: string) => taken.filter((one) => one.path === path).map(({ body }) => body)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get bodies() {
      return taken.map(({ body }) => body)
    },
    headers,
    spans: () => of('/v1/traces').flatMap((body) => messagesAt(body, 1, 2, 2).map(spanOf)),
    metrics: () => of('/v1/metrics').flatMap((body) => messagesAt(body, 1, 2, 2).map(metricOf)),
    resource: () => Object.fromEntries(taken.flatMap(({ body }) => messagesAt(body, 1, 1, 1).map(attributeOf))),
    answer: (next) => {
      how = next
    },
  }
}

/** Returns the messages at the end of this path of field numbers. */
function messagesAt(body: Buffer, ...way: number[]): Buffer[] {
  return way.reduce<Buffer[]>(
    (messages, number) => messages.flatMap((message) => bytesOfField(fieldsOf(message), number)),
    [body],
  )
}

const bytesOfField = (fields: Field[], number: number): Buffer[] =>
  fields.flatMap((field) => (field.number === number && Buffer.isBuffer(field.value) ? [field.value] : []))

function spanOf(message: Buffer): SeenSpan {
  const fields = fieldsOf(message)
  const status = bytesOfField(fields, 15).flatMap(fieldsOf)
  return {
    traceId: hexOf(bytesOfField(fields, 1)[0]),
    spanId: hexOf(bytesOfField(fields, 2)[0]),
    parentId: hexOf(bytesOfField(fields, 4)[0]),
    name: textOf(bytesOfField(fields, 5)[0]),
    attributes: Object.fromEntries(bytesOfField(fields, 9).map(attributeOf)),
    isError: status.some(({ number, value }) => number === 3 && value === 2n),
    links: bytesOfField(fields, 13).map((link) => hexOf(bytesOfField(fieldsOf(link), 1)[0])),
  }
}

/** Gauge, sum and histogram have their points in the same field, attributes in different ones. */
function metricOf(message: Buffer): SeenMetric {
  const fields = fieldsOf(message)
  const points = [
    ...[5, 7].flatMap((kind) => messagesAt(message, kind, 1).map((point) => bytesOfField(fieldsOf(point), 7))),
    ...messagesAt(message, 9, 1).map((point) => bytesOfField(fieldsOf(point), 9)),
  ]
  return {
    name: textOf(bytesOfField(fields, 1)[0]),
    series: points.map((attributes) => Object.fromEntries(attributes.map(attributeOf))),
  }
}

function attributeOf(message: Buffer): [string, string] {
  const fields = fieldsOf(message)
  const [value] = bytesOfField(fields, 2).flatMap(fieldsOf)
  return [
    textOf(bytesOfField(fields, 1)[0]),
    Buffer.isBuffer(value?.value) ? textOf(value.value) : String(value?.value),
  ]
}
