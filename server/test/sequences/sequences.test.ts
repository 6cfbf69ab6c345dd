import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runBulkChanges } from '../../src/leads/bulk/run-bulk-change.ts'
import { leadSequences } from '../../src/sequences/start-runs.ts'
import { automationWorld } from '../automation/automation-world.ts'
import { addTemplate, template } from '../support/agents/agents-world.ts'
import { auditOf } from '../support/audit.ts'
import { addLabel, marina } from '../support/inbox/inbox-world.ts'
import { day, hour, minute, type SequenceWorld, saying, sequenceWorld, templated } from './sequence-world.ts'

const bodies = (w: SequenceWorld, phone: string) => w.sentTo(phone).map(({ order }) => order.message)

test('each step is sent once when it is due, filled from the lead, in the name of the sequence', async () => {
  const w = await sequenceWorld()
  const sequence = await w.addSequence({ name: 'Welcome' })
  const { id, phone } = await w.started(sequence.id)
  await Promise.all([w.run(), w.run()])
  assert.equal(w.sentTo(phone).length, 1)
  const [sent] = bodies(w, phone)
  assert.ok(sent?.kind === 'template' && sent.parameters[0] === 'Marina', JSON.stringify(sent))
  const [run] = await w.runsOf(id)
  assert.deepEqual([run.state, run.step, run.steps, run.sequence.name], ['active', 1, 2, 'Welcome'])
  assert.equal(run.dueAt, new Date(w.clock.now().getTime() + day).toISOString())
  const { items } = (await w.member.call('GET', `/inbox/conversations/${run.conversationId}/timeline`)).body
  const { message } = items.find((item: { message?: object }) => item.message)
  assert.deepEqual([message.author.type, message.author.id, message.author.name], ['system', sequence.id, 'Welcome'])
  w.clock.advance(day - minute)
  await w.run()
  assert.equal(w.sentTo(phone).length, 1)
  w.clock.advance(minute)
  await w.run()
  await w.run()
  assert.equal(w.sentTo(phone).length, 2)
  const [ended] = await w.runsOf(id)
  assert.deepEqual([ended.state, ended.reason, ended.done.length], ['ended', 'finished', 2])
  const counts = await w.countsOf(sequence.id)
  const done = { reached: 1, sent: 1, failed: 0, skipped: 0, answered: 0 }
  assert.deepEqual(counts, {
    ...{ version: 1, started: 1, active: 0, steps: [done, done] },
    ended: [{ reason: 'finished', count: 1 }],
  })
})

test('the customer’s answer ends it at once, and is counted for the step before it', async () => {
  const w = await sequenceWorld()
  const sequence = await w.addSequence()
  const { id, phone } = await w.started(sequence.id)
  await w.run()
  w.clock.advance(minute)
  const { id: conversationId } = await w.answers(phone)
  await w.run()
  const [run] = await w.runsOf(id)
  assert.deepEqual([run.state, run.reason, run.endedAt !== null], ['ended', 'answered', true])
  await w.callTool('answer', { conversation_id: conversationId, text: 'See you' })
  w.clock.advance(2 * day)
  await w.run()
  assert.equal(w.sentTo(phone).length, 2)
  const { steps } = await w.countsOf(sequence.id)
  assert.deepEqual(
    steps.map((step: { answered: number }) => step.answered),
    [1, 0],
  )
  // What they wrote before does not end the next one, for which the agent has answered.
  assert.deepEqual((await w.start(sequence.id, id)).body.started, [id])
  await w.run()
  assert.equal(w.sentTo(phone).length, 3)
})

test('whatever ends a run does so before its next message', async (t) => {
  const w = await sequenceWorld()
  const sequence = await w.addSequence({ steps: [templated(), templated(60)] })
  const causes: Record<string, (lead: { id: string; phone: string }, conversationId: string) => Promise<object>> = {
    answered: ({ phone }) => w.answers(phone),
    opted_out: (_, id) =>
      w.member.call('PUT', `/inbox/conversations/${id}/marketing-consent`, { decision: 'opted_out' }),
    status: ({ id }) => w.member.call('PATCH', `/leads/${id}`, { status: 'won' }),
    // A person writes in a conversation that people have: its owner does not change.
    taken_over: (_, id) => w.says(id, { kind: 'template', template }),
    lead_gone: ({ id }) => w.member.call('DELETE', `/leads/${id}`),
  }
  for (const [reason, cause] of Object.entries(causes)) {
    await t.test(reason, async () => {
      const lead = await w.started(sequence.id)
      await w.run()
      const [{ conversationId }] = await w.runsOf(lead.id)
      w.clock.advance(30 * minute)
      const done = await cause(lead, conversationId)
      if ('status' in done && typeof done.status === 'number') assert.ok(done.status < 300, JSON.stringify(done))
      const before = w.sentTo(lead.phone).length
      w.clock.advance(hour)
      await w.run()
      assert.equal(w.sentTo(lead.phone).length, before)
      const [row] = await w.db.sql<{ reason: string }[]>`select reason from sequence_runs where lead_id = ${lead.id}`
      assert.equal(row?.reason, reason)
    })
  }
})

test('a customer who answers at the last moment is not written to', async () => {
  const w = await sequenceWorld()
  const sequence = await w.addSequence()
  const { id, phone } = await w.started(sequence.id)
  await w.run()
  w.clock.advance(day)
  const racing = w.nodeWith(async (step, work) => {
    const done = await work()
    // After the run was judged, and before its send is.
    if (step === 'open') await w.answers(phone)
    return done
  })
  await racing.isDue()
  await racing.work()
  assert.equal(w.sentTo(phone).length, 1)
  assert.equal((await w.runsOf(id))[0].reason, 'answered')
})

test('a text is skipped while the window is closed, and sent while it is open', async () => {
  const w = await sequenceWorld()
  const sequence = await w.addSequence({ steps: [saying('Hello {{contact.first_name}}', 0), templated(1)] })
  const closed = await w.started(sequence.id)
  const open = await w.addLead()
  await w.answers(open.phone)
  w.clock.advance(minute)
  // People have answered: nobody waits for the agent.
  const [{ id: conversationId }] = await w.conversations({ phone: open.phone })
  await w.says(conversationId, { kind: 'text', text: 'Hi' })
  w.clock.advance(minute)
  assert.equal((await w.start(sequence.id, open.id)).body.started.length, 1)
  await w.run()
  assert.deepEqual(
    [w.sentTo(closed.phone).length, bodies(w, open.phone).at(-1)],
    [0, { kind: 'text', text: 'Hello Marina', previewUrl: false }],
  )
  const [run] = await w.runsOf(closed.id)
  assert.deepEqual(
    run.done.map(({ state, code }: { state: string; code: string }) => [state, code]),
    [['skipped', 'WINDOW_CLOSED']],
  )
  w.clock.advance(minute)
  await w.run()
  assert.equal(w.sentTo(closed.phone).length, 1, 'the template that follows is sent')
})

test('it never speaks while a customer waits for an agent’s answer, and continues afterwards', async () => {
  const w = await sequenceWorld()
  const sequence = await w.addSequence({ steps: [templated()] })
  const lead = await w.addLead()
  const { id } = await w.answers(lead.phone, 'A question')
  w.clock.advance(minute)
  await w.start(sequence.id, lead.id)
  await w.run()
  const [held] = await w.runsOf(lead.id)
  assert.deepEqual([w.sentTo(lead.phone).length, held.heldBy, held.state], [0, 'OWNER_MISMATCH', 'active'])
  await w.callTool('answer', { conversation_id: id, text: 'An answer' })
  w.clock.advance(hour)
  await w.run()
  assert.equal(w.sentTo(lead.phone).length, 2)
  const [ended] = await w.runsOf(lead.id)
  assert.equal(ended.reason, 'finished')
})

test('two messages in a row that were not delivered end it', async () => {
  const w = await sequenceWorld()
  const sequence = await w.addSequence({ steps: [templated(), templated(1), templated(1)] })
  const { id, phone } = await w.started(sequence.id)
  await w.run()
  // The platform accepts it, and reports later that it was not delivered.
  const [accepted] = w.platform.accepted.filter(({ to }) => to === phone)
  await w.deliver(w.status(accepted?.externalId ?? '', 'failed', { errorCode: '131026' }))
  w.platform.behave = (order) => (order.recipient.phone === phone ? { refuse: '131026' } : undefined)
  for (let n = 0; n < 3; n++) {
    w.clock.advance(2 * minute)
    await w.run()
  }
  const [run] = await w.runsOf(id)
  assert.deepEqual([run.state, run.reason, w.sentTo(phone).length], ['ended', 'not_delivered', 2])
  assert.deepEqual(
    run.done.map(({ state, code }: { state: string; code: string }) => [state, code]),
    [
      ['failed', '131026'],
      ['failed', '131026'],
    ],
  )
})

test('after a message that the platform held back for the customer’s sake, the next one waits a day', async () => {
  const w = await sequenceWorld()
  const sequence = await w.addSequence({ steps: [templated(), templated(60)] })
  const { id, phone } = await w.started(sequence.id)
  const startedAt = w.clock.now()
  await w.run()
  const [accepted] = w.platform.accepted.filter(({ to }) => to === phone)
  await w.deliver(w.status(accepted?.externalId ?? '', 'failed', { errorCode: '131049' }))
  w.clock.advance(hour)
  await w.run()
  assert.equal(w.sentTo(phone).length, 1)
  const [run] = await w.runsOf(id)
  assert.equal(run.dueAt, new Date(startedAt.getTime() + day).toISOString())
  w.clock.set(new Date(run.dueAt))
  await w.run()
  assert.equal(w.sentTo(phone).length, 2)
})

test('a run keeps the steps with which it began, and switching off ends every run for good', async () => {
  const w = await sequenceWorld()
  const sequence = await w.addSequence()
  const first = await w.started(sequence.id)
  const changed = await w.admin.call('PATCH', `/sequences/${sequence.id}`, { steps: [templated(5)] })
  assert.deepEqual([changed.status, changed.body.sequence.version, changed.body.sequence.activeRuns], [200, 2, 1])
  const second = await w.started(sequence.id)
  assert.deepEqual([(await w.runsOf(first.id))[0].steps, (await w.runsOf(second.id))[0].steps], [2, 1])
  await w.run()
  assert.deepEqual([w.sentTo(first.phone).length, w.sentTo(second.phone).length], [1, 0])
  for (const enabled of [false, true]) {
    assert.equal((await w.admin.call('PATCH', `/sequences/${sequence.id}`, { enabled })).status, 200)
  }
  w.clock.advance(3 * day)
  await w.run()
  assert.deepEqual([w.sentTo(first.phone).length, w.sentTo(second.phone).length], [1, 0])
  assert.equal((await w.runsOf(first.id))[0].reason, 'off')
  assert.equal((await w.admin.call('DELETE', `/sequences/${sequence.id}`)).status, 200)
  assert.equal((await w.start(sequence.id, first.id)).status, 404)
  assert.deepEqual(
    (await auditOf(w, 'sequence')).map(([action]) => action),
    ['created', 'enabled', 'started', 'changed', 'started', 'disabled', 'enabled', 'deleted'].map(
      (what) => `sequence.${what}`,
    ),
  )
})

test('a lead is in a sequence once at a time; a person stops it, and what cannot be added is named', async () => {
  const w = await sequenceWorld()
  const sequence = await w.addSequence({ steps: [templated(60)] })
  const { id } = await w.started(sequence.id)
  const [won, phoneless] = [await w.addLead({ status: 'won' }), await w.addLead({ phone: null })]
  const both = await Promise.all([w.start(sequence.id, id, won.id, phoneless.id), w.start(sequence.id, id)])
  assert.deepEqual(both[0].body, { started: [], running: [id], refused: [won.id, phoneless.id] })
  const [run] = await w.runsOf(id)
  const stopped = await w.member.call('POST', `/sequence-runs/${run.id}/stop`)
  assert.deepEqual([stopped.status, stopped.body.run.reason], [200, 'stopped'])
  assert.equal((await w.member.call('POST', `/sequence-runs/${run.id}/stop`)).body.run.reason, 'stopped')
  assert.deepEqual((await auditOf(w, 'sequence.stopped')).length, 1)
  w.clock.advance(day)
  await w.run()
  assert.equal((await w.runsOf(id))[0].done.length, 0)
  assert.equal((await w.member.call('POST', `/sequence-runs/${sequence.id}/stop`)).status, 404)
})

test('a step that waits for business hours is sent when the business opens', async () => {
  const w = await sequenceWorld()
  const week = Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((name) => [
      name,
      [{ from: '09:00', to: '10:00' }],
    ]),
  )
  assert.equal((await w.admin.call('PATCH', '', { hours: { timeZone: 'UTC', week } })).status, 200)
  const sequence = await w.addSequence({ steps: [templated(0, { businessHours: true })] })
  const midnight = new Date(Math.ceil(w.clock.now().getTime() / day) * day)
  w.clock.set(new Date(midnight.getTime() + 11 * hour))
  const { id, phone } = await w.started(sequence.id)
  await w.run()
  assert.equal((await w.runsOf(id))[0].dueAt, new Date(midnight.getTime() + day + 9 * hour).toISOString())
  w.clock.set(new Date(midnight.getTime() + day + 9 * hour))
  await w.run()
  assert.equal(w.sentTo(phone).length, 1)
})

test('it is started by a bulk change, which an undo takes back, and by a label', async () => {
  const w = await sequenceWorld()
  const labelId = await addLabel(w, 'Nurture')
  const sequence = await w.addSequence({ steps: [templated(60)], labelIds: [labelId] })
  const [first, second, labelled] = [await w.addLead(), await w.addLead({ status: 'lost' }), await w.addLead()]
  const begun = await w.member.call('POST', '/lead-bulk-changes', {
    ids: [first.id, second.id],
    sequenceId: sequence.id,
  })
  const { id, kind, sequenceId, changed, failed } = begun.body.bulkChange
  assert.deepEqual([kind, sequenceId, changed, failed], ['sequence', sequence.id, 1, 1])
  const set = await w.member.call('PUT', `/leads/${labelled.id}/labels`, { labelIds: [labelId] })
  assert.equal(set.status, 200)
  const inIt = [(await w.runsOf(first.id))[0], (await w.runsOf(labelled.id))[0]]
  assert.deepEqual(
    inIt.map((run) => [run.state, run.entry]),
    [
      ['active', 'bulk'],
      ['active', 'label'],
    ],
  )
  assert.equal((await w.member.call('POST', `/lead-bulk-changes/${id}/undo`)).status, 200)
  await runBulkChanges({ ...w, sequences: leadSequences }, new AbortController().signal)
  assert.deepEqual(
    [(await w.runsOf(first.id))[0].reason, (await w.runsOf(labelled.id))[0].state],
    ['stopped', 'active'],
  )
})

test('a public form starts it for the new lead, in the transaction that creates it', async () => {
  const w = await sequenceWorld()
  const fields = [
    { key: 'firstName', label: 'Name', type: 'text', required: true },
    { key: 'phone', label: 'Phone', type: 'phone', required: true },
  ]
  const made = await w.admin.call('POST', '/forms', { name: 'Contact', title: 'Contact', fields })
  const { id: formId, slug } = made.body.form
  await w.addSequence({ formIds: [formId] })
  const body = { firstName: 'Bia', phone: '+55 81 98888-7777' }
  const sent = await w.app.inject({ method: 'POST', url: `/f/${slug}`, body })
  assert.equal(sent.statusCode, 201, sent.body)
  await w.run()
  assert.equal(w.sentTo('5581988887777').length, 1)
  // A stranger can submit it with the number of another, as often as they want.
  const [lead] = (await w.member.call('GET', '/leads')).body.leads
  const [run] = await w.runsOf(lead.id)
  const submit = async () => {
    assert.equal((await w.member.call('POST', `/sequence-runs/${run.id}/stop`, {})).status, 200)
    assert.equal((await w.app.inject({ method: 'POST', url: `/f/${slug}`, body })).statusCode, 201)
    await w.run()
    return w.sentTo('5581988887777').length
  }
  assert.equal(await submit(), 1)
  w.clock.advance(day)
  assert.equal(await submit(), 2)
})

test('an automation rule adds the customer’s lead', async () => {
  const w = await automationWorld()
  await addTemplate(w)
  const draft = {
    ...{ name: 'By rule', connectionId: w.connectionId, steps: [templated(60)], endStatuses: [], formIds: [] },
    ...{ labelIds: [], forAgents: false },
  }
  const { id } = (await w.admin.call('POST', '/sequences', draft)).body.sequence
  assert.equal((await w.admin.call('PATCH', `/sequences/${id}`, { enabled: true })).status, 200)
  await w.addRule({ actions: [{ kind: 'start_sequence', sequenceId: id }] })
  const phone = '5581977776666'
  const { lead } = (await w.member.call('POST', '/leads', { firstName: 'Bia', phone: `+${phone}` })).body
  await w.customerWrites('The price?', { customer: { ...marina, phone } })
  await w.drain()
  const { runs } = (await w.member.call('GET', `/sequence-runs?leadId=${lead.id}`)).body
  assert.deepEqual(
    runs.map((run: { state: string; entry: string }) => [run.state, run.entry]),
    [['active', 'rule']],
  )
})

test('an agent starts one that is open to agents, by name, for its customer', async () => {
  const w = await sequenceWorld()
  await w.addSequence({ name: 'Internal' })
  const sequence = await w.addSequence({ name: 'Follow up', forAgents: true, steps: [templated(60)] })
  const lead = await w.addLead()
  const { id } = await w.answers(lead.phone)
  const unknown = await w.callTool('start_sequence', { sequence: 'Internal', conversation_id: id })
  assert.equal(unknown.status, 404)
  assert.match(unknown.body.detail, /There are: Follow up\./)
  const begun = await w.callTool('start_sequence', { sequence: 'follow UP', conversation_id: id })
  assert.deepEqual([begun.status, begun.body.was_new, begun.body.sequence_id], [200, true, sequence.id])
  const again = await w.callTool('start_sequence', { sequence: 'Follow up', lead_id: lead.id })
  assert.deepEqual([again.status, again.body.was_new], [200, false])
  const neither = await w.callTool('start_sequence', { sequence: 'Follow up' })
  assert.equal(neither.status, 400)
})

test('what it names must exist, and it cannot be switched on while a template cannot be sent', async () => {
  const w = await sequenceWorld()
  const pathsOf = async (draft: Parameters<typeof w.draft>[0]) =>
    (await w.admin.call('POST', '/sequences', w.draft(draft))).body.data.issues.map(
      ({ path }: { path: string }) => path,
    )
  assert.deepEqual(await pathsOf({ steps: [templated(), saying('Hi {{nobody}}', 0)] }), [
    ...['steps[1].waitMinutes', 'steps[1].text'],
  ])
  assert.deepEqual(await pathsOf({ labelIds: [w.workspaceId] }), ['labelIds[0]'])
  const unsendable = templated(0, { template: { name: 'gone', language: 'en_US' } })
  const { sequence } = (await w.admin.call('POST', '/sequences', w.draft({ steps: [unsendable] }))).body
  assert.deepEqual(sequence.problems, ['steps[0].template.name'])
  const linked = templated(0, {
    template: { name: 'order_update', language: 'en_US', header_url: 'https://a.example' },
  })
  const needless = (await w.admin.call('POST', '/sequences', w.draft({ steps: [linked] }))).body.sequence
  assert.deepEqual(needless.problems, ['steps[0].template.body_params', 'steps[0].template.header_url'])
  assert.equal((await w.admin.call('PATCH', `/sequences/${sequence.id}`, { enabled: true })).status, 400)
  const lead = await w.addLead()
  assert.equal((await w.start(sequence.id, lead.id)).status, 409)
})

test('a lead that cannot be read keeps no other step waiting', async () => {
  const w = await sequenceWorld()
  const sequence = await w.addSequence({ steps: [templated(), templated(1)] })
  const [broken, other] = [await w.started(sequence.id), await w.started(sequence.id)]
  await w.run()
  await w.db.sql`update leads set person = ${Buffer.from('altered')} where id = ${broken.id}`
  w.clock.advance(60_000)
  await w.answers(broken.phone)
  await w.run()
  assert.equal(w.sentTo(other.phone).length, 2)
})
