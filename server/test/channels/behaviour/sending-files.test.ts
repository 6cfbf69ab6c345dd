import assert from 'node:assert/strict'
import { test } from 'node:test'
import { begun, made, ours } from '../../support/channels/begun.ts'
import { type BehaviourWorld, behaviourWorld } from '../../support/channels/behaviour-world.ts'
import type { NewUpload } from '../../support/inbox/uploads.ts'
import { rigs } from './rigs.ts'

const photo: NewUpload = { kind: 'image', type: 'image/jpeg', bytes: made('photo.jpg'), name: 'photo.jpg' }
const files: [NewUpload, caption: string, contractKind: string, contractText: string][] = [
  [photo, 'Look', 'image', 'Look'],
  [{ kind: 'video', type: 'video/mp4', bytes: made('clip.mp4') }, '', 'video', ''],
  [{ kind: 'voice', type: 'audio/ogg', bytes: made('voice.ogg'), more: { seconds: 4 } }, '', 'audio', ''],
  [{ kind: 'audio', type: 'audio/ogg', bytes: made('voice.ogg'), more: { seconds: 4 } }, '', 'audio', ''],
  [
    { kind: 'document', type: 'application/pdf', bytes: Buffer.from('%PDF-1.4'), name: 'a.pdf' },
    '',
    'document',
    'a.pdf',
  ],
  [{ kind: 'sticker', type: 'image/webp', bytes: made('sticker.webp') }, '', 'image', ''],
]

const sentMedia = async (w: BehaviourWorld, id: string, file: NewUpload, more: object = {}) => {
  const answer = await w.sendAsMember(id, { kind: 'media', upload_id: await w.upload(id, file), ...more })
  assert.equal(answer.status, 202, JSON.stringify(answer.body))
  await w.settled()
  return answer.body
}

for (const rig of rigs) {
  const { channel } = rig

  test(`${channel}: a file of each kind arrives as what it is, and is a message of its kind`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    for (const [file, caption, kind, words] of files) {
      const { message_id: messageId, status } = await sentMedia(w, id, file, caption === '' ? {} : { text: caption })
      assert.equal(status, 'sent', file.kind)
      const shown = (await ours(ana)).at(-1)
      assert.deepEqual(
        [shown.file.kind, shown.file.size, shown.caption],
        [file.kind, file.bytes.length, caption || null],
      )
      if (file.kind === 'document') assert.equal(shown.file.name, 'a.pdf')
      const message = (await w.messages(id)).at(-1)
      assert.partialDeepStrictEqual(message, { id: messageId, kind, text: words, media: null, status: 'delivered' })
    }
    assert.equal((await w.conversation(ana.phone)).owner, 'human')
    const told = await w.events('inbox.message.sent')
    assert.deepEqual(
      told.map(({ payload }) => payload.message.kind),
      files.map(([, , kind]) => kind),
    )
  })

  test(`${channel}: one key sends one file once, whatever else is asked with it later`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    const [first, second] = [await w.upload(id, photo), await w.upload(id, photo)]
    const body = { kind: 'media', upload_id: first, text: 'Look' }
    const key = `once-${channel}`
    const answers = [await w.sendAsMember(id, body, key), await w.sendAsMember(id, body, key)] as const
    assert.deepEqual([answers[0].status, answers[1].body], [202, answers[0].body])
    for (const other of [
      { ...body, upload_id: second },
      { ...body, text: 'Other words' },
      { ...body, quoted_message_id: (await w.messages(id))[0].id },
    ]) {
      const refused = await w.sendAsMember(id, other, key)
      assert.deepEqual([refused.status, refused.body.data.code], [422, 'INVALID_MESSAGE'])
    }
    const again = await w.sendAsMember(id, body)
    assert.match(again.body.statusMessage, /^upload_id was sent already/)
    await w.settled()
    assert.equal((await ours(ana)).length, 1)
  })

  test(`${channel}: what is quoted shows above the answer, theirs as well as ours`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    const [theirs] = await w.messages(id)
    const asked = await w.sendAsMember(id, { kind: 'text', text: 'Which one?', quoted_message_id: theirs.id })
    assert.equal(asked.status, 202, JSON.stringify(asked.body))
    await w.settled()
    await sentMedia(w, id, photo, { quoted_message_id: asked.body.message_id })
    const screen = await ana.screen()
    assert.deepEqual(
      screen.slice(1).map(({ quotes }) => quotes),
      [screen[0].id, screen[1].id],
    )
  })

  test(`${channel}: a reaction shows on what it is about, is replaced and taken back, and is nobody's answer`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    const before = await w.conversation(ana.phone)
    const [theirs] = await w.messages(id)
    for (const emoji of ['👍', '❤️', null]) {
      const answer = await w.sendAsMember(id, { kind: 'reaction', message_id: theirs.id, emoji })
      assert.equal(answer.status, 202, JSON.stringify(answer.body))
      await w.settled()
      const [shown, ...others] = await ana.screen()
      assert.deepEqual([shown.reactions.business, others], [emoji, []])
    }
    const after = await w.conversation(ana.phone)
    assert.deepEqual([after.owner, after.window_expires_at], [before.owner, before.window_expires_at])
    const rows = (await w.messages(id)).filter(({ direction }) => direction === 'outbound')
    assert.deepEqual(
      rows.map(({ kind, text }) => [kind, text]),
      [
        ['text', '👍'],
        ['text', '❤️'],
        ['text', ''],
      ],
    )
  })

  test(`${channel}: files and texts of a conversation arrive in the order in which they were asked for`, async () => {
    const w = await behaviourWorld(rig)
    const { ana, id } = await begun(w)
    const uploads = [await w.upload(id, photo), await w.upload(id, photo)]
    const asked = [
      w.sendAsMember(id, { kind: 'media', upload_id: uploads[0], text: 'one' }),
      w.sendAsMember(id, { kind: 'text', text: 'two' }),
      w.sendAsMember(id, { kind: 'media', upload_id: uploads[1], text: 'three' }),
      w.sendAsMember(id, { kind: 'text', text: 'four' }),
    ]
    const answers = await Promise.all(asked)
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202])
    await w.settled()
    const rows = (await w.messages(id)).slice(1).map(({ text }) => text)
    assert.deepEqual(
      (await ours(ana)).map(({ text, caption }) => caption ?? text),
      rows,
      'as the conversation has them',
    )
    assert.equal(rows.length, 4)
  })
}
