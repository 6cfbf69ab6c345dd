import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runBulkChanges } from '../../../src/leads/bulk/run-bulk-change.ts'
import { decryptLead, type LeadRow } from '../../../src/leads/lead/encrypted-lead.ts'
import { leadColumns } from '../../../src/leads/lead/queries.ts'
import { runImports } from '../../../src/leads/transfer/import/run-import.ts'
import { type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'
import { uploadFile } from '../../support/leads/import-world.ts'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'

const races = Number(process.env.MERGE_RACES ?? 2)
const ids = ['kept', 'other', 'third'] as const
type Name = (typeof ids)[number]

/** Three leads, each with a value, a note, a label and a status change, which show where its data is. */
interface Trio {
  w: InboxWorld
  admin: TestMember
  ids: Record<Name, string>
  labels: Record<Name, string>
  phones: Record<Name, string>
  importId: string
  /** Existing merge of the other lead into the kept one, for races that start merged. */
  mergeId: string
}

type Act = (trio: Trio) => Promise<{ status: number; body: unknown }>

const merge =
  (kept: Name, other: Name): Act =>
  ({ admin, ids }) =>
    admin.call('POST', `/leads/${ids[kept]}/merge`, { otherId: ids[other] })
const undo: Act = ({ admin, mergeId }) => admin.call('POST', `/lead-merges/${mergeId}/undo`)
const remove =
  (name: Name): Act =>
  ({ admin, ids }) =>
    admin.call('DELETE', `/leads/${ids[name]}`)
const raise: Act = ({ admin, ids }) =>
  admin.call('POST', '/lead-bulk-changes', { ids: [ids.kept, ids.other], changes: { priority: 'urgent' } })
const label: Act = ({ admin, ids, labels }) =>
  admin.call('POST', '/lead-bulk-changes', { ids: [ids.kept, ids.other], labels: { addLabelIds: [labels.third] } })
const undoImport: Act = async ({ w, admin, importId }) => {
  const answer = await admin.call('POST', `/lead-imports/${importId}/undo`)
  await runBulkChanges(w, new AbortController().signal)
  return answer
}
const upsert: Act = ({ w, phones }) =>
  w.call('POST', `${leadsPath}/upsert`, {
    body: { match: { by: 'phone', value: phones.other }, lead: { firstName: 'Again' } },
  })
const erase: Act = ({ admin, ids }) => admin.call('POST', '/erasures', { leadId: ids.other })

const apart: readonly [title: string, one: Act, two: Act][] = [
  ['a merge and a deletion of the kept lead', merge('kept', 'other'), remove('kept')],
  ['a merge and a deletion of the other lead', merge('kept', 'other'), remove('other')],
  ['a merge and a bulk change of both', merge('kept', 'other'), raise],
  ['a merge and a label for both', merge('kept', 'other'), label],
  ['a merge and one the other way', merge('kept', 'other'), merge('other', 'kept')],
  ['a merge and one of the other into a third', merge('kept', 'other'), merge('third', 'other')],
  ['a merge and one of the kept lead into a third', merge('kept', 'other'), merge('third', 'kept')],
  ['a merge and the undo of the import that made the other', merge('kept', 'other'), undoImport],
  ['a merge and an upsert by the phone of the other', merge('kept', 'other'), upsert],
  ['a merge and an erasure of the other', merge('kept', 'other'), erase],
]
const merged: readonly [title: string, one: Act, two: Act][] = [
  ['an undo and the same undo', undo, undo],
  ['an undo and a deletion of the kept lead', undo, remove('kept')],
  ['an undo and a bulk change of both', undo, raise],
  ['an undo and a label for both', undo, label],
  ['an undo and a merge of the kept lead into a third', undo, merge('third', 'kept')],
  ['an undo and the undo of the import that made the other', undo, undoImport],
  ['an undo and an upsert by the phone of the other', undo, upsert],
  ['an undo and an erasure of the other', undo, erase],
]

for (const [isMerged, pairs] of [
  [false, apart],
  [true, merged],
] as const) {
  for (const [title, one, two] of pairs) {
    test(`${title}, in either order: each gets a clear response, and no value, note, label or status change is lost`, async () => {
      const trios = await trioMaker()
      for (let race = 0; race < races; race++) {
        for (const [first, second] of [
          [one, two],
          [two, one],
        ] as const) {
          const trio = await trios(isMerged)
          const answers = await Promise.all([first(trio), later(race, () => second(trio))])
          for (const { status, body } of answers) {
            assert.ok([200, 201, 204, 404, 409].includes(status), JSON.stringify(body))
          }
          await checkWhole(trio, { isErased: first === erase || second === erase })
          await checkDone(trio, [one, two])
        }
      }
    })
  }
}

/** Starts some event loop turns later, so that races meet at different points. */
async function later<T>(turns: number, act: () => Promise<T>): Promise<T> {
  for (let turn = 0; turn < turns * 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  return act()
}

async function trioMaker() {
  const scopes = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk'] as const
  const w = await inboxWorld({ key: { scopes: [...scopes] } })
  const admin = await signedInMember(w, 'admin')
  const labels = {} as Trio['labels']
  for (const name of ids) {
    labels[name] = (await admin.call('POST', '/labels', { name, color: 'teal' })).body.label.id
  }
  let count = 0
  return async (isMerged: boolean): Promise<Trio> => {
    // The rate limit is not under test.
    w.clock.advance(30_000)
    const n = 1000 + count++
    const phones = { kept: `55819910${n}1`, other: `55819920${n}1`, third: `55819930${n}1` }
    const importId = await importOther(w, admin, phones.other)
    const made = {} as Trio['ids']
    for (const name of ids) {
      const of = { firstName: name, notes: `note of ${name}`, customFieldValues: { [name]: name } }
      const upserted = await w.call('POST', `${leadsPath}/upsert`, {
        body: { match: { by: 'phone', value: phones[name] }, lead: of },
      })
      const { id } = upserted.body.data
      made[name] = id
      await w.call('PATCH', leadPath(id), { body: { status: 'contacted' } })
      await admin.call('POST', `/leads/${id}/notes`, { text: name })
      await admin.call('PUT', `/leads/${id}/labels`, { labelIds: [labels[name]] })
    }
    const trio = { w, admin, ids: made, labels, phones, importId, mergeId: '' }
    if (!isMerged) return trio
    const done = await merge('kept', 'other')(trio)
    return { ...trio, mergeId: (done.body as { merge: { id: string } }).merge.id }
  }
}

async function importOther(w: InboxWorld, admin: TestMember, phone: string): Promise<string> {
  const id = await uploadFile(w, `name,phone\nother,${phone}\n`)
  assert.equal((await admin.call('POST', `/lead-imports/${id}/start`, { match: 'none' })).status, 200)
  await runImports(w, new AbortController().signal)
  return id
}

async function stateOf({ w, ids: of }: Trio) {
  const all = Object.values(of)
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const rows = await w.db.sql<LeadRow[]>`select ${leadColumns(w.db.sql)} from leads l where l.id = any (${all}::uuid[])`
  const merges = await w.db.sql<{ kept_id: string; merged_id: string; undone_at: Date | null }[]>`
    select kept_id, merged_id, undone_at from lead_merges where kept_id = any (${all}::uuid[])`
  const labels = await w.db.sql<{ lead_id: string; label_id: string }[]>`
    select lead_id, label_id from lead_labels where lead_id = any (${all}::uuid[])`
  const counts = async (table: string) => {
    const found = await w.db.sql<{ lead_id: string }[]>`
      select lead_id from ${w.db.sql(table)} where lead_id = any (${all}::uuid[])`
    return found.map((row) => row.lead_id)
  }
  return {
    leads: new Map(rows.map((row) => [row.id, decryptLead(keyring, row)])),
    standing: merges.filter(({ undone_at }) => undone_at === null),
    labelsOf: (id: string) => labels.filter(({ lead_id }) => lead_id === id).map(({ label_id }) => label_id),
    notes: await counts('lead_notes'),
    changes: await counts('lead_status_changes'),
  }
}

/** Checks that the data of each lead is with itself, or with the lead it was merged into. */
async function checkWhole(trio: Trio, { isErased }: { isErased: boolean }): Promise<void> {
  const { leads, standing, labelsOf, notes, changes } = await stateOf(trio)
  const homeOf = (id: string): string => {
    const into = standing.find(({ merged_id }) => merged_id === id)
    return into === undefined ? id : homeOf(into.kept_id)
  }
  assert.equal(new Set(standing.map(({ merged_id }) => merged_id)).size, standing.length, 'merged into two at once')
  for (const name of ids) {
    const id = trio.ids[name]
    const home = homeOf(id)
    const lead = leads.get(home)
    if (lead === undefined) {
      assert.ok(isErased, name)
      continue
    }
    if (home !== id)
      assert.notEqual(leads.get(id)?.deletedAt ?? null, null, `${name} lives beside whom it was merged into`)
    assert.ok(lead.notes?.includes(`note of ${name}`), `${name}: ${lead.notes}`)
    assert.equal(lead.customFields.find(({ key }) => key === name)?.value, name)
    assert.ok(labelsOf(home).includes(trio.labels[name]), `the label of ${name}`)
    if (lead.deletedAt === null && leads.get(id) !== undefined) {
      const found = await trio.w.call('GET', leadPath(trio.phones[name]))
      assert.deepEqual([found.status, found.body.data?.id], [200, home], `by the phone of ${name}`)
    }
    const here = ids.filter((one) => homeOf(trio.ids[one]) === home).length
    const count = (rows: readonly string[]) => rows.filter((row) => row === home).length
    assert.deepEqual([count(notes), count(changes)], [here, here], `notes and changes of status with ${name}`)
  }
}

/** Checks that changes of the kept lead hold despite the race, and that nothing is left of an erased lead. */
async function checkDone(trio: Trio, acts: readonly Act[]): Promise<void> {
  const { leads, labelsOf } = await stateOf(trio)
  if (acts.includes(raise)) assert.equal(leads.get(trio.ids.kept)?.priority, 'urgent')
  if (acts.includes(label)) assert.ok(labelsOf(trio.ids.kept).includes(trio.labels.third))
  if (acts.includes(erase)) assert.equal(leads.get(trio.ids.other), undefined)
}
