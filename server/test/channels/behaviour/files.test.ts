import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type BehaviorWorld,
  beginConversation,
  behaviorWorld,
  businessMessages,
  readyMadeFile,
} from '../../support/channels/behavior-world.ts'
import { rigs, wabaRig } from '../../support/channels/rigs.ts'
import type { NewUpload } from '../../support/inbox/uploads.ts'

const pdf = Buffer.from('%PDF-1.4')
const photo: NewUpload = { kind: 'image', type: 'image/jpeg', bytes: readyMadeFile('photo.jpg'), name: 'photo.jpg' }
const sound = { type: 'audio/ogg', bytes: readyMadeFile('voice.ogg'), more: { seconds: 4 } }
const files: [NewUpload, caption: string, contractKind: string, contractText: string][] = [
  [photo, 'Look', 'image', 'Look'],
  [{ kind: 'video', type: 'video/mp4', bytes: readyMadeFile('clip.mp4') }, '', 'video', ''],
  [{ kind: 'voice', ...sound }, '', 'audio', ''],
  [{ kind: 'audio', ...sound }, '', 'audio', ''],
  [{ kind: 'document', type: 'application/pdf', bytes: pdf, name: 'a.pdf' }, '', 'document', 'a.pdf'],
  [{ kind: 'sticker', type: 'image/webp', bytes: readyMadeFile('sticker.webp') }, '', 'image', ''],
]

const accepted = async (w: BehaviorWorld, id: string, body: object) => {
  const answer = await w.sendAsMember(id, body)
  assert.equal(answer.status, 202, JSON.stringify(answer.body))
  await w.settled()
  return answer.body
}
const bring = (w: BehaviorWorld, id: string, query: Record<string, string>) =>
  w.verb('POST', `/conversations/${id}/files`, {
    ...{ raw: photo.bytes, query: { kind: 'image', ...query } },
    headers: { 'content-type': 'application/octet-stream' },
  })
const answer = async (w: BehaviorWorld, id: string, body: object) => {
  const reply = await w.verb('POST', `/conversations/${id}/answer`, { body })
  await w.settled()
  return reply
}

for (const rig of rigs) {
  const { channel } = rig

  test(`${channel}: a file of each kind arrives with its kind and content`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    for (const [file, caption, kind, words] of files) {
      const upload_id = await w.upload(id, file)
      const sent = await accepted(w, id, { kind: 'media', upload_id, ...(caption === '' ? {} : { text: caption }) })
      assert.equal(sent.status, 'sent', file.kind)
      const shown = (await businessMessages(ana)).at(-1)
      assert.deepEqual([shown.file.kind, shown.file.size], [file.kind, file.bytes.length])
      assert.deepEqual(shown.caption, caption || null)
      if (file.kind === 'document') assert.equal(shown.file.name, 'a.pdf')
      const message = (await w.messages(id)).at(-1)
      const expected = { id: sent.message_id, kind, text: words, media: null, status: 'delivered' }
      assert.partialDeepStrictEqual(message, expected)
    }
    assert.equal((await w.conversation(ana.phone)).owner, 'human')
    assert.deepEqual(
      (await w.events('inbox.message.sent')).map(({ payload }) => payload.message.kind),
      files.map(([, , kind]) => kind),
    )
  })

  test(`${channel}: a reply shows its quote; a reaction can be replaced and removed, and does not count as a reply`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    const before = await w.conversation(ana.phone)
    const [theirs] = await w.messages(id)
    for (const emoji of ['👍', '❤️', null]) {
      await accepted(w, id, { kind: 'reaction', message_id: theirs.id, emoji })
      const [shown, ...others] = await ana.screen()
      assert.deepEqual([shown.reactions.business, others], [emoji, []])
    }
    const after = await w.conversation(ana.phone)
    assert.deepEqual([after.owner, after.window_expires_at], [before.owner, before.window_expires_at])
    const asked = await accepted(w, id, { kind: 'text', text: 'Which one?', quoted_message_id: theirs.id })
    const upload_id = await w.upload(id, photo)
    await accepted(w, id, { kind: 'media', upload_id, quoted_message_id: asked.message_id })
    const screen = await ana.screen()
    assert.deepEqual(
      screen.slice(1).map(({ quotes }) => quotes),
      [screen[0].id, screen[1].id],
    )
  })

  test(`${channel}: an agent uploads a file and replies with it; a repeat sends it only once`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    const { status, body: brought } = await bring(w, id, { name: 'a.jpg' })
    const told = { kind: 'image', type: 'image/jpeg', bytes: photo.bytes.length }
    assert.equal(status, 200)
    assert.partialDeepStrictEqual(brought, told)
    const file = { upload_id: brought.upload_id, caption: 'Look' }
    const first = await answer(w, id, { file })
    assert.deepEqual([first.status, first.body.status, first.body.was_new], [200, 'sent', true])
    const again = await answer(w, id, { file })
    const { body: anew } = await bring(w, id, {})
    const broughtAgain = await answer(w, id, { file: { ...file, upload_id: anew.upload_id } })
    for (const { body } of [again, broughtAgain]) {
      assert.deepEqual([body.was_new, body.message_id], [false, first.body.message_id])
    }
    assert.deepEqual(
      (await businessMessages(ana)).map((one) => [one.file?.kind, one.file?.size, one.caption]),
      [['image', photo.bytes.length, 'Look']],
    )
    assert.equal((await w.conversation(ana.phone)).owner, `agent:${w.agentId}`)
    const { body: read } = await w.verb('GET', `/conversations/${id}`)
    const { from, text, file: shown } = read.messages.at(-1)
    assert.deepEqual([from, text, shown.kind, shown.state], ['you', 'Look', 'image', 'here'])
    const { body: gone } = await answer(w, id, { file: { upload_id: anew.upload_id, caption: 'Other words' } })
    assert.deepEqual([gone.code, gone.status], ['INVALID_MESSAGE', 422], 'what was brought for a repeat is forgotten')
  })

  test(`${channel}: an agent sends a template with an image header, where templates are supported`, async () => {
    const w = await behaviorWorld(rig)
    const { ana, id } = await beginConversation(w)
    await w.team('POST', `/connections/${w.line.connectionId}/templates/sync`)
    const { body: listed } = await w.verb('GET', '/templates')
    const headers = listed.templates.map(({ name, header }: Record<string, string>) => `${name} ${header ?? ''}`)
    assert.equal(headers.includes('new_catalog image'), rig.isOfficial, String(headers))
    const template = { name: 'new_catalog', language: 'es' }
    const without = await answer(w, id, { template })
    assert.deepEqual([without.status, without.body.code], [422, 'TEMPLATE_NOT_APPROVED'])
    if (!rig.isOfficial) return
    const { body: brought } = await bring(w, id, {})
    const filled = { ...template, header_upload_id: brought.upload_id }
    assert.equal((await answer(w, id, { template: filled })).body.status, 'sent')
    assert.equal((await answer(w, id, { template: filled })).body.was_new, false)
    assert.deepEqual(
      (await businessMessages(ana)).map(({ kind, file }) => [kind, file.kind, file.size]),
      [['template', 'image', photo.bytes.length]],
    )
  })
}

test('an idempotency key sends one file once, whatever a later request with it contains', async () => {
  const w = await behaviorWorld(wabaRig)
  const { ana, id } = await beginConversation(w)
  const [first, second] = [await w.upload(id, photo), await w.upload(id, photo)]
  const body = { kind: 'media', upload_id: first, text: 'Look' }
  const answers = [await w.sendAsMember(id, body, 'once'), await w.sendAsMember(id, body, 'once')] as const
  assert.deepEqual([answers[0].status, answers[1].body], [202, answers[0].body])
  const quoted_message_id = (await w.messages(id))[0].id
  for (const other of [{ upload_id: second }, { text: 'Other words' }, { quoted_message_id }]) {
    const refused = await w.sendAsMember(id, { ...body, ...other }, 'once')
    assert.deepEqual([refused.status, refused.body.data.code], [422, 'INVALID_MESSAGE'])
  }
  const again = await w.sendAsMember(id, body)
  assert.match(again.body.statusMessage, /^upload_id was already sent/)
  await w.settled()
  assert.equal((await businessMessages(ana)).length, 1)
})

test('an agent uploads a file as base64; an agent cannot send a file to a conversation owned by people', async () => {
  const w = await behaviorWorld(wabaRig)
  const { ana, id } = await beginConversation(w)
  const upload = (base64: string) => w.verb('POST', `/conversations/${id}/uploads`, { body: { kind: 'image', base64 } })
  const { status, body } = await upload(photo.bytes.toString('base64'))
  assert.equal(status, 200, JSON.stringify(body))
  await answer(w, id, { file: { upload_id: body.upload_id } })
  assert.equal((await businessMessages(ana)).at(-1).file.size, photo.bytes.length)
  for (const bad of ['data:image/png;base64,AAAA', 'A'.repeat(2_796_208)]) {
    const refused = await upload(bad)
    assert.deepEqual([refused.status, refused.body.issues[0].path], [400, 'base64'])
  }
  assert.equal((await upload('A'.repeat(3_000_000))).status, 413)
  const text = await upload(Buffer.from('no picture').toString('base64'))
  assert.deepEqual([text.status, text.body.code], [415, 'FILE_TYPE_REFUSED'])
  await w.member.call('POST', `/inbox/conversations/${id}/take-over`)
  const held = await bring(w, id, {})
  assert.deepEqual([held.status, held.body.code], [409, 'HELD_BY_PEOPLE'])
})
