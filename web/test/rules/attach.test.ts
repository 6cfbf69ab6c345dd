import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MediaKind, Upload, UploadLimits } from '../../src/data/inbox/types.ts'
import { type Attachment, type Attachments, captionTarget, type Step } from '../../src/inbox/attach/attachment.ts'
import { type Change, firstSubmitted, preserveCaptions, reduceAttachments } from '../../src/inbox/attach/attachments.ts'
import { decideFile } from '../../src/inbox/attach/limits.ts'
import { planFor, waveformOf } from '../../src/inbox/attach/record.ts'

const megabyte = 1024 * 1024
const official: UploadLimits = {
  kinds: [
    { kind: 'image', bytes: 5 * megabyte, types: ['image/jpeg', 'image/png'] },
    { kind: 'video', bytes: 16 * megabyte, types: ['video/mp4', 'video/3gpp'] },
    { kind: 'audio', bytes: 16 * megabyte, types: ['audio/mpeg', 'audio/mp4', 'audio/ogg'] },
    { kind: 'voice', bytes: 16 * megabyte, types: ['audio/ogg'] },
    { kind: 'document', bytes: 100 * megabyte, types: ['application/pdf', 'text/plain'] },
    { kind: 'sticker', bytes: 500 * 1024, types: ['image/webp'] },
  ],
  captionLength: 1024,
  canReact: true,
  canQuote: true,
}
const generous: UploadLimits = { ...official, kinds: [{ kind: 'document', bytes: 2 * megabyte, types: ['*/*'] }] }

test('a file is sent as its kind, otherwise as a document, and rejected before upload if the channel does not accept it', () => {
  const table: [limits: UploadLimits, name: string, type: string, size: number, expected: object][] = [
    [official, 'a.jpg', 'image/jpeg', 5 * megabyte, { kind: 'image', type: 'image/jpeg' }],
    [official, 'a.jpg', 'image/jpg', 1, { kind: 'image', type: 'image/jpeg' }],
    [official, 'a.jpg', 'image/jpeg', 5 * megabyte + 1, { refused: 'size', bytes: 5 * megabyte }],
    [official, 'a.webp', 'image/webp', 1000, { refused: 'type' }],
    [official, 'a.mp4', 'video/mp4', 17 * megabyte, { refused: 'size', bytes: 16 * megabyte }],
    [official, 'a.mp3', 'audio/mpeg', 1, { kind: 'audio', type: 'audio/mpeg' }],
    [official, 'a.ogg', 'audio/ogg; codecs=opus', 1, { kind: 'audio', type: 'audio/ogg' }],
    [official, 'a.pdf', '', 1, { kind: 'document', type: 'application/pdf' }],
    [official, 'A.PDF', 'application/octet-stream', 1, { kind: 'document', type: 'application/pdf' }],
    [official, 'a.exe', '', 1, { refused: 'type' }],
    [official, 'a', '', 1, { refused: 'type' }],
    [official, 'a.pdf', 'application/pdf', 0, { refused: 'empty' }],
    [generous, 'a.jpg', 'image/jpeg', 1, { kind: 'document', type: 'image/jpeg' }],
    [generous, 'a.exe', '', 1, { kind: 'document', type: 'application/octet-stream' }],
    [generous, 'a.exe', '', 3 * megabyte, { refused: 'size', bytes: 2 * megabyte }],
    [{ ...official, kinds: [] }, 'a.jpg', 'image/jpeg', 1, { refused: 'type' }],
  ]
  for (const [limits, name, type, size, expected] of table)
    assert.deepEqual(decideFile({ name, type, size }, limits), expected, `${name} ${type} ${size}`)
})

const upload: Upload = {
  id: 'u',
  kind: 'image',
  name: null,
  type: 'image/png',
  bytes: 1,
  width: null,
  height: null,
  expiresAt: '2026-03-01T12:00:00.000Z',
}
const [before, after] = [Date.parse(upload.expiresAt) - 1, Date.parse(upload.expiresAt)]
const error = new Error('no')
const steps: Record<string, Step> = {
  waiting: { at: 'waiting' },
  uploading: { at: 'uploading', share: 0.5 },
  ready: { at: 'ready', upload },
  sending: { at: 'sending', upload },
  notUploaded: { at: 'failed', error, upload: null },
  notSent: { at: 'failed', error, upload },
}
const submit = { seenId: null, quotedId: null }

const file = (id: string, changes: Partial<Attachment> = {}): Attachment => ({
  id,
  key: `key of ${id}`,
  file: new Blob(['x']),
  kind: 'image',
  name: `${id}.png`,
  type: 'image/png',
  seconds: null,
  waveform: null,
  caption: '',
  submitted: null,
  step: { at: 'waiting' },
  ...changes,
})

test('a file only moves between valid states; changes that do not fit its state are ignored', () => {
  const table: [from: keyof typeof steps, change: Change, to: Step | 'gone' | 'same'][] = [
    ['waiting', { type: 'uploadBegan', id: 'a' }, { at: 'uploading', share: 0 }],
    ['waiting', { type: 'progressed', id: 'a', share: 0.7 }, 'same'],
    ['waiting', { type: 'uploaded', id: 'a', upload }, 'same'],
    ['waiting', { type: 'sendBegan', id: 'a' }, 'same'],
    ['waiting', { type: 'failed', id: 'a', error }, 'same'],
    ['waiting', { type: 'cancelled', id: 'a' }, 'gone'],
    ['uploading', { type: 'uploadBegan', id: 'a' }, 'same'],
    ['uploading', { type: 'progressed', id: 'a', share: 0.7 }, { at: 'uploading', share: 0.7 }],
    ['uploading', { type: 'uploaded', id: 'a', upload }, { at: 'ready', upload }],
    ['uploading', { type: 'failed', id: 'a', error }, { at: 'failed', error, upload: null }],
    ['uploading', { type: 'retried', id: 'a', nowMs: before }, 'same'],
    ['uploading', { type: 'cancelled', id: 'a' }, 'gone'],
    ['ready', { type: 'progressed', id: 'a', share: 1 }, 'same'],
    ['ready', { type: 'sendBegan', id: 'a' }, { at: 'sending', upload }],
    ['ready', { type: 'accepted', id: 'a' }, 'same'],
    ['ready', { type: 'failed', id: 'a', error }, 'same'],
    ['ready', { type: 'cancelled', id: 'a' }, 'gone'],
    ['sending', { type: 'sendBegan', id: 'a' }, 'same'],
    ['sending', { type: 'accepted', id: 'a' }, 'gone'],
    ['sending', { type: 'failed', id: 'a', error }, { at: 'failed', error, upload }],
    ['sending', { type: 'cancelled', id: 'a' }, 'same'],
    ['notUploaded', { type: 'retried', id: 'a', nowMs: before }, { at: 'waiting' }],
    ['notUploaded', { type: 'cancelled', id: 'a' }, 'gone'],
    ['notSent', { type: 'retried', id: 'a', nowMs: before }, { at: 'ready', upload }],
    ['notSent', { type: 'retried', id: 'a', nowMs: after }, { at: 'waiting' }],
    ['notSent', { type: 'accepted', id: 'a' }, 'same'],
    ['notSent', { type: 'cancelled', id: 'a' }, 'gone'],
  ]
  for (const [from, change, to] of table) {
    const all = [file('z'), file('a', { step: steps[from] })]
    const [other, one, ...more] = reduceAttachments(all, change)
    const label = `${from} ${change.type}`
    assert.deepEqual([other, more], [all[0], []], label)
    if (to === 'gone') assert.equal(one, undefined, label)
    else if (to === 'same') assert.equal(one, all[1], label)
    else assert.deepEqual(one, { ...all[1], step: to }, label)
  }
})

test('a file keeps one Idempotency-Key across retries', () => {
  const way: Change[] = [
    { type: 'uploadBegan', id: 'a' },
    { type: 'failed', id: 'a', error },
    { type: 'retried', id: 'a', nowMs: before },
    { type: 'uploadBegan', id: 'a' },
    { type: 'uploaded', id: 'a', upload },
    { type: 'submitted', text: 'Hi', seenId: 'm1', quotedId: null },
    { type: 'sendBegan', id: 'a' },
    { type: 'failed', id: 'a', error },
    { type: 'confirmed', seenId: 'm2', isOverBudget: false },
    { type: 'retried', id: 'a', nowMs: after },
  ]
  const [one] = way.reduce<Attachments>(reduceAttachments, [file('a')])
  assert.deepEqual(one, file('a', { caption: 'Hi', submitted: { seenId: 'm2', quotedId: null, isOverBudget: false } }))
})

test('the next file is sent when the previous one was accepted, and none overtakes a failed one', () => {
  const ready = { step: steps.ready, submitted: submit }
  const table: [Attachments, string | null, boolean][] = [
    [[file('a', { step: steps.ready }), file('b', { step: steps.ready })], null, false],
    [[file('a', ready), file('b', ready)], 'a', false],
    [[file('a', { ...ready, step: steps.uploading }), file('b', ready)], null, false],
    [[file('a', { ...ready, step: steps.sending }), file('b', ready)], null, false],
    [[file('a', { ...ready, step: steps.notSent }), file('b', ready)], null, true],
    [[file('a', { ...ready, step: steps.notUploaded }), file('b', ready)], null, true],
    [[file('b', ready), file('c')], 'b', false],
  ]
  for (const [all, next, halted] of table) {
    const first = firstSubmitted(all)
    assert.equal(first?.step.at === 'ready' ? first.id : null, next)
    assert.equal(first?.step.at === 'failed', halted)
  }
})

test('the text is the caption of the first file that can have one, and the quote belongs to the first file', () => {
  const all = [file('voice', { kind: 'voice' }), file('a'), file('b', { caption: ' the other ' })]
  const sent = reduceAttachments(all, { type: 'submitted', text: 'one', seenId: 'm', quotedId: 'q' })
  assert.deepEqual(
    sent.map((one) => [one.caption, one.submitted]),
    [
      ['', { seenId: 'm', quotedId: 'q' }],
      ['one', { seenId: 'm', quotedId: null }],
      ['the other', { seenId: 'm', quotedId: null }],
    ],
  )
  const more = reduceAttachments([...sent, file('c')], {
    type: 'submitted',
    text: 'later',
    seenId: 'n',
    quotedId: null,
  })
  assert.deepEqual(
    more.map(({ caption }) => caption),
    ['', 'one', 'the other', 'later'],
  )
})

test('text and caption stay with their files when reordered, and no text is lost with a file', () => {
  const all = [file('a'), file('b', { caption: 'second' })]
  const swapped = preserveCaptions(all, reduceAttachments(all, { type: 'moved', id: 'b', by: -1 }), 'first')
  assert.deepEqual(
    [swapped.text, ...swapped.attachments.map((one) => `${one.id} ${one.caption}`)],
    ['second', 'b ', 'a first'],
  )
  const kept = preserveCaptions(all, reduceAttachments(all, { type: 'cancelled', id: 'a' }), 'first')
  assert.deepEqual(
    [kept.text, kept.attachments[0]?.caption, captionTarget(kept.attachments)?.id],
    ['first\nsecond', '', 'b'],
  )
  const last = preserveCaptions([file('a')], [], 'first')
  assert.deepEqual([last.text, last.attachments], ['first', []])
})

test('a voice message is recorded in a format of the channel: as voice if possible, otherwise as audio, otherwise not at all', () => {
  const [ogg, webm, mp4] = ['audio/ogg;codecs=opus', 'audio/webm;codecs=opus', 'audio/mp4;codecs=mp4a.40.2']
  const only = (kind: MediaKind, types: string[]): Pick<UploadLimits, 'kinds'> => ({
    kinds: [{ kind, bytes: megabyte, types }],
  })
  const table: [Pick<UploadLimits, 'kinds'>, can: string[], expected: string | null][] = [
    [official, [webm], 'voice audio/ogg repacked'],
    [official, [ogg, webm], 'voice audio/ogg'],
    [official, [mp4], 'audio audio/mp4'],
    [official, [mp4, webm], 'voice audio/ogg repacked'],
    [official, [], null],
    [only('voice', ['audio/ogg; codecs=opus']), [webm], 'voice audio/ogg repacked'],
    [only('audio', ['audio/mp4']), [webm], null],
    [only('audio', ['audio/mp4']), [webm, mp4], 'audio audio/mp4'],
    [only('image', ['image/png']), [ogg, webm, mp4], null],
  ]
  for (const [limits, can, expected] of table) {
    const plan = planFor(limits, (type) => can.includes(type))
    const told = plan && [plan.kind, plan.type, ...(plan.isRepacked ? ['repacked'] : [])].join(' ')
    assert.equal(told, expected)
  }
})

test('a waveform has at most 64 bars from 0 to 100, however long or quiet the voice was', () => {
  assert.deepEqual(waveformOf([]), [])
  assert.deepEqual(waveformOf([0.1, 0.2, 0]), [50, 100, 0])
  assert.deepEqual(waveformOf([0, 0]), [0, 0])
  const long = waveformOf(Array.from({ length: 9000 }, (_, n) => n / 9000))
  assert.equal(long.length, 64)
  assert.ok(long.every((one) => Number.isInteger(one) && one >= 0 && one <= 100))
  assert.equal(long.at(-1), 100)
})
