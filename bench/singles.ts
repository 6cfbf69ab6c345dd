// A bulk upsert as separate upserts: the product's own upsert of one lead, a hundred times in one transaction with a
// savepoint each, on the same tables. Run by run.ts in a process of its own.
import fastify from 'fastify'
import { systemClock } from '../server/src/base/clock.ts'
import { type Db, openDb } from '../server/src/base/db.ts'
import { openKeyStore } from '../server/src/base/encryption/key-store.ts'
import { parseBulkItem } from '../server/src/leads/lead/input.ts'
import { upsertLeads } from '../server/src/leads/write/upsert.ts'
import { databaseOf } from './database-address.ts'
import { benchMasterKey } from './workspace.ts'

const { WORKSPACE = '' } = process.env
const db = openDb(databaseOf(process.env))
const keyStore = openKeyStore(db, { current: benchMasterKey }, systemClock)
const user = {
  workspaceId: WORKSPACE,
  defaultCountry: null,
  masked: false,
  actor: { type: 'system', id: null },
} as const
const app = fastify()

app.post<{ Body: { items: Parameters<typeof parseBulkItem>[0][] } }>('/leads/bulk-upsert', async (request) => {
  const items = request.body.items.map((item, n) => parseBulkItem(item, { defaultCountry: null, at: `items[${n}]` }))
  const keyring = await keyStore.keyring(WORKSPACE)
  const known = { ...keyStore, keyring: async () => keyring }
  const results = await db.tx(async (tx) => {
    const within: Db = {
      ...db,
      tx: async (work) => {
        await tx.unsafe('savepoint one')
        return work(tx)
      },
    }
    const done: string[] = []
    for (const item of items) {
      // `inTransaction` keeps each upsert from committing separately.
      const options = { continueOnError: true, dryRun: false, inTransaction: async () => {} }
      const [outcome] = await upsertLeads({ db: within, keyStore: known, clock: systemClock }, user, [item], options)
      if (outcome === undefined || outcome.action === 'failed') throw new Error('An item failed')
      done.push(outcome.action)
    }
    return done
  })
  return { success: true, results }
})

const address = await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`ready ${new URL(address).port}\n`)
