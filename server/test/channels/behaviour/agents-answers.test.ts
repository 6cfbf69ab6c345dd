import assert from 'node:assert/strict'
import { test } from 'node:test'
import { begun, made, ours } from '../../support/channels/begun.ts'
import { type BehaviourWorld, behaviourWorld } from '../../support/channels/behaviour-world.ts'
import { rigs } from './rigs.ts'

const photo = made('photo.jpg')

const bring = (w: BehaviourWorld, id: string, bytes: Buffer, query: Record<string, string>) =>
  w.verb('POST', `/conversations/${id}/files`, {
    ...{ raw: bytes, query },
    headers: { 'content-type': 'application/octet-stream' },
  })
const answer = async (w: BehaviourWorld, id: string, body: object) => {
  const reply = await w.verb('POST', `/conversations/${id}/answer`, { body })
  await w.settled()
  return reply
}
const days = {
  text: 'When do you come?',
  list: {
    button: 'See the days',
    rows: [
      { id: 'mon', title: 'Monday' },
      { id: 'tue', title: 'Tuesday', description: 'With Ana' },
    ],
  },
  footer: 'We open at nine.',
}

for (const rig of rigs) {
  const { channel } = rig

  test(`${channel}: an agent brings a file as its bytes and answers with it, once however often it is repeated`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    const brought = await bring(w, id, photo, { kind: 'image', name: 'a.jpg' })
    assert.deepEqual(
      [brought.status, brought.body.kind, brought.body.type, brought.body.bytes],
      [200, 'image', 'image/jpeg', photo.length],
    )
    const file = { upload_id: brought.body.upload_id, caption: 'Look' }
    const first = await answer(w, id, { file })
    assert.deepEqual([first.status, first.body.status, first.body.was_new], [200, 'sent', true])
    const again = await answer(w, id, { file })
    const { body: anew } = await bring(w, id, photo, { kind: 'image' })
    const broughtAgain = await answer(w, id, { file: { ...file, upload_id: anew.upload_id } })
    for (const { body } of [again, broughtAgain]) {
      assert.deepEqual([body.was_new, body.message_id], [false, first.body.message_id])
    }
    const shown = await ours(ana)
    assert.deepEqual(
      shown.map((one) => [one.file?.kind, one.file?.size, one.caption]),
      [['image', photo.length, 'Look']],
    )
    assert.equal((await w.conversation(ana.phone)).owner, `agent:${w.agentId}`)
    const { body: read } = await w.verb('GET', `/conversations/${id}`)
    const { from, text, file: told } = read.messages.at(-1)
    assert.deepEqual([from, text, told.kind, told.state], ['you', 'Look', 'image', 'here'])
    const { body: gone } = await answer(w, id, { file: { upload_id: anew.upload_id, caption: 'Other words' } })
    assert.deepEqual([gone.code, gone.status], ['INVALID_MESSAGE', 422], 'what was brought for a repeat is forgotten')
  })

  test(`${channel}: the same file as a text in base64`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    const upload = (body: object) => w.verb('POST', `/conversations/${id}/uploads`, { body })
    const { status, body } = await upload({ kind: 'image', base64: photo.toString('base64') })
    assert.equal(status, 200, JSON.stringify(body))
    await answer(w, id, { file: { upload_id: body.upload_id } })
    assert.equal((await ours(ana)).at(-1).file.size, photo.length)
    const broken = await upload({ kind: 'image', base64: 'data:image/png;base64,AAAA' })
    assert.deepEqual([broken.status, broken.body.issues[0].path], [400, 'base64'])
    const tooMuch = await upload({ kind: 'image', base64: 'A'.repeat(2_796_208) })
    assert.deepEqual([tooMuch.status, tooMuch.body.issues[0].path], [400, 'base64'])
    assert.equal((await upload({ kind: 'image', base64: 'A'.repeat(3_000_000) })).status, 413)
    const text = await upload({ kind: 'image', base64: Buffer.from('no picture').toString('base64') })
    assert.deepEqual([text.status, text.body.code], [415, 'FILE_TYPE_REFUSED'])
  })

  test(`${channel}: what people have gets no file of an agent`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    await w.member.call('POST', `/inbox/conversations/${id}/take-over`)
    const { status, body } = await bring(w, id, photo, { kind: 'image' })
    assert.deepEqual([status, body.code], [409, 'HELD_BY_PEOPLE'])
    assert.deepEqual(await ours(ana), [])
  })

  test(`${channel}: a template whose header is a picture goes out with an agent's, where there are any`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    await w.team('POST', `/connections/${w.line.connectionId}/templates/sync`)
    const { body: listed } = await w.verb('GET', '/templates')
    const headers = listed.templates.map(({ name, header }: Record<string, string>) => `${name} ${header ?? ''}`)
    assert.equal(headers.includes('new_catalog image'), rig.hasTemplates, String(headers))
    const template = { name: 'new_catalog', language: 'es' }
    const without = await answer(w, id, { template })
    assert.deepEqual([without.status, without.body.code], [422, 'TEMPLATE_NOT_APPROVED'])
    if (!rig.hasTemplates) return
    const { body: brought } = await bring(w, id, photo, { kind: 'image' })
    const filled = { ...template, header_upload_id: brought.upload_id }
    assert.equal((await answer(w, id, { template: filled })).body.status, 'sent')
    assert.equal((await answer(w, id, { template: filled })).body.was_new, false)
    const shown = await ours(ana)
    assert.deepEqual(
      shown.map(({ kind, file }) => [kind, file.kind, file.size]),
      [['template', 'image', photo.length]],
    )
  })

  if (rig.hasChoices) {
    test(`${channel}: an agent offers buttons and a list, and learns what was chosen`, async () => {
      const w = await behaviourWorld(rig)
      const { ana, id } = await begun(w)
      const buttons = { text: 'Sure?', buttons: [{ title: 'Yes' }, { id: 'no', title: 'No' }] }
      const asked = await answer(w, id, { choices: buttons })
      assert.deepEqual([asked.status, asked.body.status], [200, 'sent'], JSON.stringify(asked.body))
      assert.equal((await answer(w, id, { choices: buttons })).body.was_new, false)
      await ana.chooses('1')
      const listed = await answer(w, id, { choices: days })
      await ana.chooses('tue')
      const [first, second] = await ours(ana)
      assert.deepEqual(
        [first.text, first.offer],
        ['Sure?', { button: null, options: [{ id: '1', title: 'Yes' }, buttons.buttons[1]] }],
      )
      assert.deepEqual(
        [second.text, second.footer, second.offer],
        [days.text, days.footer, { button: 'See the days', options: days.list.rows }],
      )
      const { body: read } = await w.verb('GET', `/conversations/${id}`)
      // biome-ignore lint/suspicious/noExplicitAny: as in Answer
      const among = (fits: (one: any) => boolean) => read.messages.find(fits)
      const yes = among(({ answers_message_id: about }) => about === asked.body.message_id)
      assert.deepEqual([yes.from, yes.customer_text, yes.chosen], ['customer', 'Yes', { id: '1', title: 'Yes' }])
      const shown = among((one) => one.id === listed.body.message_id)
      assert.deepEqual([shown.text, shown.choices], [days.text, { list: days.list, footer: days.footer }])
      const tuesday = among(({ answers_message_id: about }) => about === listed.body.message_id)
      assert.deepEqual([tuesday.customer_text, tuesday.chosen], ['Tuesday', { id: 'tue', title: 'Tuesday' }])
      assert.deepEqual(
        (await w.messages(id)).map(({ kind, text }) => `${kind} ${text}`).sort(),
        ['Olá', 'Sure?', 'Tuesday', days.text, 'Yes'].map((words) => `text ${words}`),
        "the contract's interface has words alone",
      )
      const { body: team } = await w.member.call('GET', `/inbox/conversations/${id}/messages`)
      const inTeam = team.messages.find((one: { id: string }) => one.id === listed.body.message_id)
      assert.deepEqual(inTeam.choices, { list: days.list, footer: days.footer })
      const byMember = await w.sendAsMember(id, { kind: 'choices', choices: buttons })
      assert.equal(byMember.status, 202)
      await w.settled()
      assert.deepEqual((await ours(ana)).at(-1).offer.options.length, 2)
    })
  } else {
    test(`${channel}: buttons and lists are refused, and a numbered text is offered in their place`, async () => {
      const w = await behaviourWorld(rig)
      const { ana, id } = await begun(w)
      const { status, body } = await answer(w, id, { choices: days })
      assert.deepEqual([status, body.code], [422, 'UNSUPPORTED_KIND'])
      assert.match(body.next[0], /numbers what can be chosen/)
      assert.deepEqual(await ours(ana), [])
    })
  }
}
