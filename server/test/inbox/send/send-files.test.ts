import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../../src/base/db.ts'
import { ApiError } from '../../../src/base/errors.ts'
import type { OutgoingMessage } from '../../../src/channels/connector.ts'
import { currentColumns } from '../../../src/inbox/conversation/activity-columns.ts'
import type { Conversation } from '../../../src/inbox/conversation/conversation.ts'
import { decryptConversation } from '../../../src/inbox/conversation/encrypted-conversation.ts'
import { decryptMessage } from '../../../src/inbox/conversation/message.ts'
import { messageColumns } from '../../../src/inbox/conversation/message-queries.ts'
import { findConversation } from '../../../src/inbox/conversation/queries.ts'
import { readConversationViews } from '../../../src/inbox/read/names.ts'
import { sendMessage } from '../../../src/inbox/send/send.ts'
import { gate } from '../../support/inbox/gate.ts'
import { freshKey, noon, type SendWorld, sendWorld, text } from '../../support/inbox/send-world.ts'
import type { NewUpload } from '../../support/inbox/uploads.ts'

const send = (w: SendWorld, conversationId: string, body: object, deps = w.node.deps, key = freshKey()) =>
  sendMessage(deps, w.member, { conversationId, idempotencyKey: key, body })
const answerOf = async (work: ReturnType<typeof sendMessage>) => {
  const { status, body } = await work
  return { ...JSON.parse(body), status }
}
const refusalOf = async (work: Promise<unknown>): Promise<ApiError> => {
  const error = await work.then(
    () => assert.fail('it is refused'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ApiError, String(error))
  return error
}
const sentFiles = ({ platform }: SendWorld) =>
  platform.calls.map(({ message }) => (message.kind === 'media' ? message.file.platformId : message.kind))

async function stored(w: SendWorld, id: string) {
  const [row] = await w.db.sql`select ${messageColumns(w.db.sql)} from messages m where m.id = ${id}`
  return decryptMessage(await w.keyStore.keyring(w.workspaceId), row as never)
}

const addTemplate = (w: SendWorld, header: string | null) => w.db.sql`
  insert into templates (
    workspace_id, connection_id, id, name, language, category, status, body, parameter_names, parameter_count, body_only,
    header, synced_at
  )
  values (
    ${w.workspaceId}, ${w.connectionId}, gen_random_uuid(), ${`with_${header}`}, 'en', 'UTILITY', 'APPROVED', 'Hi {{1}}', null, 1,
    ${header === null}, ${header}, ${noon}
  )`

test('a file is uploaded to the platform before its message, which keeps its details', async () => {
  const w = await sendWorld()
  const { id } = await w.conversation()
  const uploadId = await w.upload(id)
  const answer = await answerOf(send(w, id, { kind: 'media', upload_id: uploadId, text: 'Look' }))
  assert.deepEqual([answer.status, w.platform.uploads], [202, [{ id: 'file-1', bytes: 'a picture' }]])
  const [call] = w.platform.calls
  const file = { kind: 'image', name: null, mimeType: 'image/png', platformId: 'file-1' } as const
  assert.deepEqual(call?.message, { kind: 'media', file, caption: 'Look' } satisfies OutgoingMessage)
  const message = await stored(w, answer.message_id)
  assert.partialDeepStrictEqual(message, {
    kind: 'image',
    text: 'Look',
    detail: { media: { id: uploadId, kind: 'image' } },
  })
  const [row] = await w.db.sql`select message_id, state, platform_id from media where id = ${uploadId}`
  assert.deepEqual([row?.message_id, row?.state], [answer.message_id, 'here'])
  const sealed = { table: 'media', row: uploadId, column: 'platform_id' }
  const keyring = await w.keyStore.keyring(w.workspaceId)
  assert.deepEqual(JSON.parse(keyring.decryptText(sealed, row?.platform_id)), {
    id: 'file-1',
    livesUntil: '2026-04-08T12:00:00.000Z',
  })
})

for (const [leftMs, uploads, sent] of [
  [86_400_000, 0, 'given before'],
  [1000, 1, 'file-1'],
] as const) {
  test(`a file whose platform id lives ${leftMs} ms more is uploaded ${uploads} times`, async () => {
    const w = await sendWorld()
    const { id } = await w.conversation()
    const uploadId = await w.upload(id)
    const keyring = await w.keyStore.keyring(w.workspaceId)
    const platform = JSON.stringify({ id: 'given before', livesUntil: new Date(noon.getTime() + leftMs) })
    const sealed = keyring.encrypt({ table: 'media', row: uploadId, column: 'platform_id' }, platform)
    await w.db.sql`update media set platform_id = ${sealed} where id = ${uploadId}`
    assert.equal((await send(w, id, { kind: 'media', upload_id: uploadId })).status, 202)
    assert.deepEqual([w.platform.uploads.length, sentFiles(w)], [uploads, [sent]])
  })
}

test('a file that the platform has lost is uploaded and sent once more', async () => {
  const w = await sendWorld()
  const { id } = await w.conversation()
  w.platform.behave = ({ message }) =>
    message.kind === 'media' && message.file.platformId === 'file-1' ? { refuse: '100', isFileGone: true } : undefined
  const answer = await answerOf(send(w, id, { kind: 'media', upload_id: await w.upload(id) }))
  assert.deepEqual([answer.status, sentFiles(w)], [202, ['file-1', 'file-2']])
  assert.equal((await w.message(answer.message_id)).status, 'sent')
  w.platform.behave = () => ({ refuse: '131053', isFileGone: true })
  const failed = await answerOf(send(w, id, { kind: 'media', upload_id: await w.upload(id) }))
  assert.equal(failed.status, 202)
  const row = await w.message(failed.message_id)
  assert.deepEqual([row.status, row.error_code, w.platform.calls.length], ['failed', '131053', 4])
})

for (const [refusal, status, code, told] of [
  [{ outcome: 'refused', errorCode: '131053' }, 202, '131053', ['none 131053']],
  [{ outcome: 'failed', errorCode: 'timeout', isDown: false }, 502, 'timeout', []],
  [{ outcome: 'failed', errorCode: '190', isDown: true }, 202, '190', ['connection_unavailable 190']],
] as const) {
  test(`if the platform rejects the file (${code}), no message is sent and the send fails`, async () => {
    const w = await sendWorld()
    const { id } = await w.conversation()
    w.platform.refusesUpload = refusal
    const [key, body] = [freshKey(), { kind: 'media', upload_id: await w.upload(id) }]
    const answer = await send(w, id, body, w.node.deps, key)
    assert.deepEqual([answer.status, w.platform.calls, w.refusals], [status, [], told])
    const again = await send(w, id, body, w.node.deps, key)
    assert.deepEqual([again.isReplay, again.body], [true, answer.body])
    const [message] = await w.db.sql`select status, error_code from messages where conversation_id = ${id}`
    assert.deepEqual({ ...message }, { status: 'failed', error_code: code })
  })
}

for (const [given, files] of [
  ['for the first time', ['file-1', 'text']],
  ['anew', ['file-1', 'file-2', 'text']],
] as const) {
  test(`messages after a file that is uploaded ${given} wait for it, however long the platform takes`, async (t) => {
    const w = await sendWorld()
    const { id } = await w.conversation()
    w.platform.behave = ({ message }) =>
      given === 'anew' && message.kind === 'media' && message.file.platformId === 'file-1'
        ? { refuse: '100', isFileGone: true }
        : undefined
    const { pass, reached: isUploading, open: take } = gate()
    w.platform.onUpload = async () => {
      if (w.platform.uploads.length >= files.length - 2) await pass()
    }
    const first = send(w, id, { kind: 'media', upload_id: await w.upload(id) })
    await isUploading
    // The second checks for longer than the turn timeout, and once more after the first is settled.
    const [hasWaited, isSettled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let looks = 0
    const now = performance.now.bind(performance)
    t.mock.method(performance, 'now', () => now() + looks * 60)
    const next = () => (++looks > 6 ? isSettled.promise : Promise.resolve())
    const db: Db = {
      ...w.node.deps.db,
      tx: (...work) => w.node.deps.db.tx(...work).finally(() => looks > 6 && hasWaited.resolve()),
    }
    const request = { conversationId: id, idempotencyKey: freshKey(), body: text('behind it') }
    const second = sendMessage({ ...w.node.deps, db, maxTurnMs: 100, wakeups: { next } }, w.member, request)
    await Promise.race([hasWaited.promise, second])
    take()
    assert.equal((await first).status, 202)
    isSettled.resolve()
    assert.equal((await second).status, 202)
    assert.deepEqual(sentFiles(w), files)
  })
}

test('of two concurrent sends of one upload, one succeeds', async () => {
  const w = await sendWorld()
  const { id } = await w.conversation()
  const body = { kind: 'media', upload_id: await w.upload(id) }
  const ends = await Promise.allSettled([send(w, id, body), send(w, id, body)])
  assert.deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal(w.platform.accepted.length, 1)
})

test('a reaction is stored with its target, and does not change the conversation', async () => {
  const w = await sendWorld()
  const before = await w.conversation()
  const { message_id: about } = await answerOf(send(w, before.id, text('ours')))
  await w.db.sql`
    update conversations set owner_key_id = ${w.keyId}, unanswered_since = ${noon}, now_unanswered_since = ${noon} where id = ${before.id}`
  const { message_id: id } = await answerOf(send(w, before.id, { kind: 'reaction', message_id: about, emoji: '👍' }))
  const externalId = w.platform.accepted[0]?.externalId
  assert.deepEqual(w.platform.calls[1]?.message, {
    kind: 'reaction',
    about: { externalId, direction: 'outbound', text: 'ours' },
    emoji: '👍',
  })
  assert.deepEqual((await stored(w, id)).detail, { reaction: { externalId, emoji: '👍' } })
  const reactions = await w.db.sql`select 1 from message_reactions where message_id = ${id}`
  const [after] = await w.db.sql`
    select owner_key_id, ${currentColumns.unansweredSince(w.db.sql)} as unanswered_since from conversations c where id = ${before.id}`
  assert.deepEqual([reactions.length, after?.owner_key_id, after?.unanswered_since], [1, w.keyId, noon])
})

test('our reaction and its removal do not become the last message of the conversation', async () => {
  const w = await sendWorld()
  await w.keyStore.ensureInstanceSecrets()
  const { id } = await w.conversation()
  const { message_id: about } = await answerOf(send(w, id, text('ours')))
  for (const emoji of ['👍', null]) {
    w.clock.advance(60_000)
    await answerOf(send(w, id, { kind: 'reaction', message_id: about, emoji }))
    const row = await findConversation(w.db.sql, { workspaceId: w.workspaceId, connectionIds: [] }, id)
    assert.ok(row)
    const conversation = decryptConversation(await w.keyStore.keyring(w.workspaceId), row)
    const [shown] = await readConversationViews(w.node.deps, w.workspaceId, [conversation])
    assert.deepEqual(shown?.conversation.lastMessage, { direction: 'outbound', kind: 'text', text: 'ours' })
    assert.deepEqual([shown?.newest?.id, conversation.lastMessageAt], [about, w.clock.now()])
  }
  w.clock.advance(60_000)
  const { message_id: next } = await answerOf(send(w, id, text('the next')))
  assert.equal((await w.message(next)).status, 'sent')
})

test('a template with a media header is sent only with a file', async () => {
  const w = await sendWorld()
  await addTemplate(w, 'image')
  await addTemplate(w, null)
  const { id } = await w.conversation({ windowExpiresAt: null })
  const body = (header_upload_id?: string, name = 'with_image') => ({
    kind: 'template',
    template: { name, language: 'en', body_params: ['Ana'], ...(header_upload_id && { header_upload_id }) },
  })
  const refused = [
    [body(), /requires a header file of the kind image/],
    [
      body(await w.upload(id, { kind: 'document', type: 'application/pdf' })),
      /requires a file of the kind image, not document/,
    ],
    [body(await w.upload(id), 'with_null'), /no media header/],
  ] as const
  for (const [asked, words] of refused) assert.match((await refusalOf(send(w, id, asked))).message, words)
  const ofKey = await w.post(id, { body: body() })
  assert.deepEqual([ofKey.status, ofKey.body.data.code], [422, 'TEMPLATE_NOT_APPROVED'])
  const uploadId = await w.upload(id)
  const { message_id: messageId } = await answerOf(send(w, id, body(uploadId)))
  const [call] = w.platform.calls
  assert.ok(call?.message.kind === 'template')
  assert.deepEqual(call.message.header, { kind: 'image', name: null, mimeType: 'image/png', platformId: 'file-1' })
  assert.partialDeepStrictEqual(await stored(w, messageId), {
    kind: 'template',
    text: 'Hi Ana',
    detail: { media: { id: uploadId, kind: 'image' } },
  })
})

const big = 6 * 1024 * 1024
const refusals: [why: string, body: (w: SendWorld, one: Conversation) => Promise<object>, words: RegExp][] = [
  ['an unknown upload', async () => ({ upload_id: freshKey() }), /^upload_id is not an upload of this conversation/],
  [
    'an upload of another conversation',
    async (w) => ({ upload_id: await w.upload((await w.conversation()).id) }),
    /^upload_id is not an upload of this conversation/,
  ],
  [
    'too many bytes',
    upload({ bytes: Buffer.alloc(big) }),
    /^The file has 6291456 bytes; this channel accepts at most 5242880/,
  ],
  [
    'an unsupported type',
    upload({ type: 'image/tiff' }),
    /does not accept this image type. Accepted types: image\/jpeg/,
  ],
  ['a caption that is too long', upload({}, 'x'.repeat(1025)), /^text can have at most 1024 characters with a file/],
  [
    'a caption with a voice note',
    upload({ kind: 'voice', type: 'audio/ogg' }, 'Hi'),
    /A voice file cannot have a caption/,
  ],
]

function upload(file: Partial<NewUpload>, words?: string) {
  return async (w: SendWorld, { id }: Conversation) => ({
    upload_id: await w.upload(id, file),
    ...(words !== undefined && { text: words }),
  })
}

for (const [why, body, words] of refusals) {
  test(`a file is refused with a reason, without storing or calling anything: ${why}`, async () => {
    const w = await sendWorld()
    const one = await w.conversation()
    const refusal = await refusalOf(send(w, one.id, { kind: 'media', ...(await body(w, one)) }))
    assert.deepEqual([refusal.statusCode, refusal.data?.code], [422, 'INVALID_MESSAGE'])
    assert.match(refusal.message, words)
    const rows = await w.db.sql`select 1 from messages where conversation_id = ${one.id}`
    assert.deepEqual([rows.length, w.platform.uploads, w.platform.calls], [0, [], []])
  })
}

test('files and reactions need an open window', async () => {
  const w = await sendWorld()
  const { id } = await w.conversation({ windowExpiresAt: noon })
  const bodies = [
    { kind: 'media', upload_id: await w.upload(id) },
    { kind: 'reaction', message_id: freshKey(), emoji: '👍' },
  ]
  for (const body of bodies) assert.equal((await refusalOf(send(w, id, body))).data?.code, 'WINDOW_CLOSED')
})

test('a quoted message or reaction target must be in the conversation and known to the platform', async () => {
  const w = await sendWorld()
  const { id } = await w.conversation()
  const { message_id: elsewhere } = await answerOf(send(w, (await w.conversation()).id, text()))
  const { message_id: ours } = await answerOf(send(w, id, text()))
  const { message_id: reaction } = await answerOf(send(w, id, { kind: 'reaction', message_id: ours, emoji: '👍' }))
  w.platform.behave = () => ({ refuse: '131026' })
  const { message_id: failed } = await answerOf(send(w, id, text()))
  for (const [named, words] of [
    [freshKey(), /must be a message of this conversation/],
    [elsewhere, /must be a message of this conversation/],
    [reaction, /is a reaction/],
    [failed, /has not reached the platform/],
  ] as const) {
    for (const body of [
      { ...text(), quoted_message_id: named },
      { kind: 'reaction', message_id: named, emoji: '👍' },
    ]) {
      const error = await send(w, id, body).catch((thrown: unknown) => thrown)
      assert.match(JSON.stringify(error, Object.getOwnPropertyNames(error)), words)
    }
  }
  const words = await refusalOf(send(w, id, { kind: 'reaction', message_id: ours, emoji: 'no' }))
  assert.match(words.message, /^emoji must be one emoji/)
})

test('a key of the contract can send only text and templates', async () => {
  const w = await sendWorld()
  const { id } = await w.conversation()
  const uploadId = await w.upload(id)
  for (const body of [
    { kind: 'media', upload_id: uploadId },
    { kind: 'reaction', message_id: uploadId, emoji: '👍' },
    { ...text(), quoted_message_id: uploadId },
  ]) {
    const { status, body: answer } = await w.post(id, { body })
    assert.deepEqual([status, answer.data.code], [400, 'INVALID_REQUEST'])
  }
  const ask = { conversationId: id, idempotencyKey: freshKey(), body: { kind: 'media', upload_id: uploadId } }
  // Uses the syntax that an extended agent API would.
  const answer = await sendMessage(w.node.deps, w.agent, { ...ask, syntax: 'whole' })
  assert.equal(answer.status, 202)
  const other = await w.conversation({ owner: { type: 'human' } })
  const refused = await refusalOf(
    sendMessage(w.node.deps, w.agent, { ...ask, conversationId: other.id, idempotencyKey: 'b', syntax: 'whole' }),
  )
  assert.equal(refused.data?.code, 'OWNER_MISMATCH')
})
