import { Readable } from 'node:stream'
import pg from 'pg'

// Methods that pg calls on a query while its result arrives; the type declarations lack them.
const Query = pg.Query as unknown as new (text: string) => object

interface PgConnection {
  query(text: string): void
  sendCopyFromChunk(bytes: Uint8Array): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
  stream: {
    pause(): void
    resume(): void
    writableNeedDrain: boolean
    once(event: 'drain' | 'close', onReady: () => void): void
    off(event: 'drain' | 'close', onReady: () => void): void
  }
}

const blockBytes = 4 * 1024 * 1024
const maxBlocks = 2

/** Runs one `copy … to stdout` and returns the number of rows. A reader that stops early must close the connection. */
export async function* copyOut(client: pg.Client, statement: string): AsyncGenerator<Buffer, number> {
  const query = new CopyOut(statement)
  client.query(query as unknown as pg.Submittable)
  for await (const block of query.blocks) yield block
  return query.done
}

/** Runs one `copy … from stdin` and returns the number of rows. */
export async function copyIn(client: pg.Client, statement: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
  const query = new CopyIn(statement, bytes)
  client.query(query as unknown as pg.Submittable)
  return query.done
}

/** Runs the statement in the simple query protocol. */
class Copy extends Query {
  readonly #ended = Promise.withResolvers<number>()
  protected failure: unknown
  #count = 0
  readonly #text: string

  constructor(statement: string) {
    super(statement)
    this.#text = statement
    // The reader receives the error; this only prevents an unhandled rejection.
    this.done.catch(() => undefined)
  }

  get done(): Promise<number> {
    return this.#ended.promise
  }

  submit = (wire: PgConnection): null => {
    wire.query(this.#text)
    return null
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}

  handleCommandComplete({ text }: { text: string }): void {
    this.#count = Number(text.slice(text.lastIndexOf(' ') + 1)) || 0
  }

  handleReadyForQuery(): void {
    this.#ended.resolve(this.#count)
  }

  handleError(error: unknown): void {
    this.failure = error
    this.#ended.reject(error)
  }
}

class CopyOut extends Copy {
  readonly blocks = new Readable({
    objectMode: true,
    highWaterMark: maxBlocks,
    read: () => this.#wire?.stream.resume(),
  })
  #pieces: Buffer[] = []
  #bytes = 0
  #wire: PgConnection | undefined

  handleCopyData({ chunk }: { chunk: Buffer }, wire: PgConnection): void {
    this.#wire = wire
    // The driver reuses this memory.
    this.#pieces.push(Buffer.from(chunk))
    this.#bytes += chunk.length
    if (this.#bytes >= blockBytes && !this.#pushBlock()) wire.stream.pause()
  }

  /** Returns true if the buffer has space for more. */
  #pushBlock(): boolean {
    const block = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#bytes = 0
    return this.blocks.push(block)
  }

  override handleReadyForQuery(): void {
    if (this.#bytes > 0) this.#pushBlock()
    this.blocks.push(null)
    super.handleReadyForQuery()
  }

  override handleError(error: unknown): void {
    super.handleError(error)
    this.blocks.destroy(error as Error)
  }
}

class CopyIn extends Copy {
  readonly #source: AsyncIterable<Uint8Array>
  #sourceFailure: unknown

  constructor(statement: string, source: AsyncIterable<Uint8Array>) {
    super(statement)
    this.#source = source
  }

  handleCopyInResponse(wire: PgConnection): void {
    void this.#sendSource(wire)
  }

  async #sendSource(wire: PgConnection): Promise<void> {
    try {
      for await (const bytes of this.#source) {
        if (this.failure !== undefined) return
        wire.sendCopyFromChunk(bytes)
        if (wire.stream.writableNeedDrain) await drained(wire.stream)
      }
      if (this.failure === undefined) wire.endCopyFrom()
    } catch (error) {
      this.#sourceFailure = error
      wire.sendCopyFail('The source of the copy failed')
    }
  }

  /** Reports the failure of the source instead of the server's response to it. */
  override handleError(error: unknown): void {
    super.handleError(this.#sourceFailure ?? error)
  }
}

/** Resolves when the stream can take more or is closed. */
function drained(stream: PgConnection['stream']): Promise<void> {
  return new Promise((resolve) => {
    const onReady = () => {
      stream.off('drain', onReady)
      stream.off('close', onReady)
      resolve()
    }
    stream.once('drain', onReady)
    stream.once('close', onReady)
  })
}
