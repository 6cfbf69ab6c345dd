import { Client, type CustomTypesConfig, type QueryResultRow, types } from 'pg'
import { databaseOf } from '../database-address.ts'

/** Runs a statement, prepared under its own name on first use of a connection. */
export type Run = <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<Row[]>

export interface BaselineTx {
  run: Run
  /** Must be called together with the last statements, so that it is pipelined with them; rolls back if one failed. */
  commit: () => Promise<unknown>
}

/** The cheapest access to PostgreSQL: bare `pg`, pipelined. */
export interface BaselineDb {
  /** Reads on a few shared connections: no query waits for the answer of another. */
  read: Run
  /** Writes on more connections: later queries of a connection wait until its commit is on disk. */
  write: Run
  /** Runs a transaction on its own connection. `begin` is pipelined with the first statement. */
  tx<T>(work: (tx: BaselineTx) => Promise<T>): Promise<T>
}

export async function openBaselineDb(connections = { reading: 3, writing: 10, transactions: 10 }): Promise<BaselineDb> {
  const free = await connect(connections.transactions)
  const waiting: ((client: Client) => void)[] = []
  const take = (): Client | Promise<Client> => free.pop() ?? new Promise((resolve) => waiting.push(resolve))
  const giveBack = (client: Client) => {
    const next = waiting.shift()
    if (next === undefined) free.push(client)
    else next(client)
  }
  return {
    read: roundRobin(await connect(connections.reading)),
    write: roundRobin(await connect(connections.writing)),
    tx: async (work) => {
      const client = await take()
      try {
        const [, answer] = await Promise.all([client.query('begin'), work(txOf(client))])
        return answer
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        giveBack(client)
      }
    },
  }
}

function roundRobin(clients: readonly Client[]): Run {
  let turn = 0
  return (text, values) => send(clients[turn++ % clients.length] as Client, text, values)
}

const txOf = (client: Client): BaselineTx => ({
  run: (text, values) => send(client, text, values),
  commit: () => client.query('commit'),
})

const names = new Map<string, string>()

async function send<Row extends QueryResultRow>(
  client: Client,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const name = names.get(text) ?? `s${names.size}`
  names.set(text, name)
  return (await client.query<Row>({ name, text, values: [...values] })).rows
}

function connect(count: number): Promise<Client[]> {
  const { socketFolder, ...rest } = databaseOf(process.env)
  const connectOne = async () => {
    const client = new Client({ ...rest, host: socketFolder, pipeline: true, types: quickTypes })
    await client.connect()
    return client
  }
  return Promise.all(Array.from({ length: count }, connectOne))
}

const timestamptz = 1184

/** The driver's parser for times takes three times as long. */
const quickTypes: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    (oid as number) === timestamptz ? (text: string) => new Date(text) : types.getTypeParser(oid, format as 'text'),
}
