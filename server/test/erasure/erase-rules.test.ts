import assert from 'node:assert/strict'
import { test } from 'node:test'
import { erasureDeps } from '../../src/app/erasure.ts'
import type { ErasureDeps } from '../../src/erasure/erasure.ts'
import { startErasure } from '../../src/erasure/erasure-routes.ts'
import { finishErasures, leaseMs, runErasure } from '../../src/erasure/run.ts'
import type { Member } from '../../src/team/member.ts'
import { afterStep } from '../support/after-step.ts'
import { type ErasureWorld, erasureWorld, findTraces, type Person } from '../support/erasure-world.ts'
import { conversationPath, marina as customer, customerMessage } from '../support/inbox/inbox-world.ts'
import { uploadFile } from '../support/leads/import-world.ts'
import { leadPath } from '../support/leads/leads.ts'
import { signedInMember } from '../support/member.ts'
import { pick } from '../support/pick.ts'
import { world } from '../support/world.ts'

const marina: Person = {
  word: 'zyxmarina',
  phone: '5581991234567',
  variant: '558191234567',
  email: 'zyx.marina@example.com',
  userId: '99887766554433@lid',
}
const path = '/erasures'

const memberOf = ({ workspaceId, admin }: ErasureWorld) =>
  ({
    workspaceId,
    actor: { type: 'user', id: admin.userId },
    workspace: { defaultCountry: null },
  }) as Member

test('an erasure interrupted at any step is completed by a worker, with the same result', async () => {
  const whole = await erasureWorld()
  await whole.seed(marina)
  const expected = (await whole.erase({ phone: marina.phone })).body.erasure.removed

  const w = await erasureWorld()
  const traces = await w.seed(marina)
  const plain = erasureDeps(w)
  const begun = await startErasure(plain, memberOf(w), { phone: marina.phone })
  let deaths = 0
  for (let round = 0; ; round++) {
    let points = 0
    // Each round dies one point later than the one before: rolled back within a step, or behind one that is done.
    const dying: ErasureDeps = {
      ...plain,
      step: afterStep(() => {
        if (++points > round % 3) throw new Error('killed')
      }),
    }
    const row = await runErasure(dying, w.workspaceId, begun.id, 60_000).catch(() => deaths++)
    if (typeof row === 'object') break
    assert.ok(round < 200)
  }
  assert.ok(deaths > 15, String(deaths))
  const { body } = await w.admin.call('GET', `${path}/${begun.id}`)
  assert.equal(body.erasure.state, 'done')
  assert.deepEqual(body.erasure.removed, expected)
  assert.deepEqual(await findTraces(w, marina, [...traces.conversationIds, ...traces.messageIds]), [])
})

test('a worker continues an erasure of a dead process after its lease, not before', async () => {
  const w = await erasureWorld()
  await w.lead({ firstName: marina.word, phone: marina.phone })
  const deps = erasureDeps(w)
  await startErasure(deps, memberOf(w), { phone: marina.phone })
  assert.equal(await finishErasures(deps), 0)
  assert.equal((await w.call('GET', leadPath(marina.phone))).status, 200)
  w.clock.advance(leaseMs)
  assert.equal(await finishErasures(deps), 1)
  assert.equal((await w.call('GET', leadPath(marina.phone))).status, 404)
  const [erasure] = (await w.admin.call('GET', path)).body.erasures
  assert.deepEqual([erasure.state, erasure.removed.leads, erasure.namedBy], ['done', 1, 'phone'])
  w.clock.advance(leaseMs)
  assert.equal(await finishErasures(deps), 0)
})

test('a customer is found by each of the four identifiers, and shared e-mails are not followed', async () => {
  for (const by of ['phone', 'email', 'leadId', 'conversationId'] as const) {
    const w = await erasureWorld()
    const shared = 'info@example.com'
    const lead = await w.lead({ firstName: 'One', phone: customer.phone, email: shared })
    const deleted = await w.lead({ firstName: 'Two', phone: '558191234567' })
    await w.call('DELETE', leadPath(deleted.id))
    const colleague = await w.lead({ firstName: 'Colleague', email: shared, phone: '5511900000000' })
    const { id: conversationId } = await w.customerWrites('Hi')
    await w.deliver(customerMessage({ at: w.clock.now(), customer: { ...customer, phone: '5511900000000' } }))
    const name = { phone: '+55 (81) 9123-4567', email: shared.toUpperCase(), leadId: lead.id, conversationId }[by]
    const { body } = await w.erase({ [by]: name })
    const expected = by === 'email' || by === 'leadId' ? { leads: 3, conversations: 2 } : { leads: 2, conversations: 1 }
    const { leads, conversations } = body.erasure.removed
    assert.deepEqual({ leads, conversations }, expected, by)
    const kept = (await w.call('GET', leadPath(colleague.id))).status
    assert.equal(kept, by === 'email' || by === 'leadId' ? 404 : 200, by)
    assert.equal((await w.admin.call('GET', '/leads/trash')).body.total, 0)
  }
})

test('a message before the conversation is erased is erased with it; the next one starts a new conversation', async () => {
  const w = await erasureWorld()
  const { id } = await w.customerWrites('Before')
  const deps = erasureDeps(w)
  const begun = await startErasure(deps, memberOf(w), { phone: customer.phone ?? '' })
  w.clock.advance(1000)
  assert.equal((await w.customerWrites('Meanwhile')).id, id)
  await runErasure(deps, w.workspaceId, begun.id, 60_000)
  assert.deepEqual(await w.conversations(), [])
  w.clock.advance(1000)
  const next = await w.customerWrites('Afterwards')
  assert.notEqual(next.id, id)
  assert.deepEqual(pick(await w.messages(next.id), 'text'), ['Afterwards'])
  const { removed } = (await w.admin.call('GET', `${path}/${begun.id}`)).body.erasure
  assert.deepEqual([removed.conversations, removed.messages], [1, 2])
})

test('concurrent writes during an erasure get responses, and data stays consistent', async () => {
  const w = await erasureWorld()
  const phone = customer.phone ?? ''
  await w.customerWrites('Before')
  const writing = Array.from({ length: 25 }, async (_, n) => {
    await w.deliver(customerMessage({ at: new Date(w.clock.now().getTime() + n * 1000), text: `Message ${n}` }))
    const lead = { firstName: `One ${n}` }
    const { status } = await w.call('POST', '/api/v1/leads/upsert', {
      body: { match: { by: 'phone', value: phone }, lead },
    })
    const [found] = await w.conversations()
    const read = found === undefined ? 404 : (await w.call('GET', `${conversationPath(found.id)}/messages`)).status
    return [status, read]
  })
  const erasing = Array.from({ length: 4 }, () => w.erase({ phone }))
  for (const { status, body } of await Promise.all(erasing)) assert.equal(status, 201, JSON.stringify(body))
  for (const [upsert, read] of await Promise.all(writing)) {
    assert.equal(upsert, 200)
    assert.ok(read === 200 || read === 404, String(read))
  }
  // What is there now came afterwards, and is whole: one conversation and one lead at most, and both go.
  assert.ok((await w.conversations()).length <= 1)
  const { removed } = (await w.erase({ phone })).body.erasure
  assert.ok(removed.leads <= 1 && removed.conversations <= 1, JSON.stringify(removed))
  assert.deepEqual(await w.conversations(), [])
  const [row] = await w.db.sql<{ count: number }[]>`
    select count(*)::integer as count from messages where workspace_id = ${w.workspaceId}`
  assert.equal(row?.count, 0)
})

test('an import that contains the customer is cancelled, and others continue', async () => {
  const w = await erasureWorld()
  // Behind the first look, and across its end.
  const filler = 'Somebody,5511900000000\n'.repeat(200_000)
  const theirs = await uploadFile(w, `name,phone\n${filler}Marina,+55 81 9 9123-4567\n`)
  const others = await uploadFile(w, 'name,phone\nSomebody,5511900000000\n')
  const { body } = await w.erase({ phone: marina.phone })
  assert.equal(body.erasure.removed.importFiles, 1)
  const stateOf = async (id: string) => (await w.admin.call('GET', `/lead-imports/${id}`)).body.import.state
  assert.deepEqual([await stateOf(theirs), await stateOf(others)], ['cancelled', 'ready'])
})

test('a dry run counts without changes, and invalid identifiers are refused', async () => {
  const w = await erasureWorld()
  const lead = await w.lead({ firstName: 'One', phone: customer.phone })
  await w.customerWrites('Hi')
  const found = await w.erase({ phone: customer.phone, dryRun: true })
  assert.equal(found.status, 200)
  const { leads, conversations, messages, events } = found.body.found
  assert.deepEqual([leads, conversations, messages], [1, 1, 1])
  assert.ok(events >= 2)
  assert.equal((await w.call('GET', leadPath(lead.id))).status, 200)
  assert.deepEqual((await w.admin.call('GET', path)).body.erasures, [])

  const other = await world()
  const foreign = await other.lead()
  for (const [body, status] of [
    [{}, 400],
    [{ dryRun: true }, 400],
    [{ phone: '123' }, 400],
    [{ phone: 'x'.repeat(65) }, 400],
    [{ phone: customer.phone, leadId: lead.id }, 400],
    [{ name: 'One' }, 400],
    [{ leadId: foreign.id }, 404],
    [{ conversationId: foreign.id }, 404],
    [{ phone: '5511900000009' }, 201],
  ] as const) {
    assert.equal((await w.erase(body)).status, status, JSON.stringify(body))
  }
  assert.equal((await w.admin.call('GET', `${path}/${lead.id}`)).status, 404)
})

test('the audit log records start and end of an erasure', async () => {
  const w = await erasureWorld()
  const lead = await w.lead({ firstName: 'One', phone: customer.phone })
  const owner = await signedInMember(w, 'owner')
  const { body } = await owner.call('POST', path, { leadId: lead.id })
  const { entries } = (await owner.call('GET', '/audit')).body
  const lines = entries.map(({ action, target }: { action: string; target: string }) => `${action} ${target}`)
  const { id } = body.erasure
  assert.deepEqual(lines.slice(0, 2), [`customer.erased erasure:${id}`, `customer.erasure_began erasure:${id}`])
})

test('an e-mail with too many leads is refused', async () => {
  const w = await world()
  const admin = await signedInMember(w, 'admin')
  const email = 'info@example.com'
  await w.lead({ email })
  await w.db.sql`
    insert into leads
    select (jsonb_populate_record(l, jsonb_build_object('id', gen_random_uuid(), 'unique_code', 'C' || n))).*
    from leads l, generate_series(1, 1000) as n
    where l.workspace_id = ${w.workspaceId}`
  assert.equal((await admin.call('POST', path, { email })).status, 422)
})
