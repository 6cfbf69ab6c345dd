import { badRequest, InvalidInput, invalid } from '../../base/errors.ts'
import { compileCheck } from '../../base/validation.ts'
import type { Choices } from '../../channels/interactive-options.ts'
import {
  type ChoicesFields,
  ChoicesSend,
  InteractiveSend,
  MediaSend,
  QuotingTemplateSend,
  QuotingTextSend,
  ReactionSend,
  TemplateSend,
  TextSend,
} from './send-schema.ts'

/** What a caller wants to be sent. What is not asked for is absent: a key's use is known by what its command holds. */
export type SendCommand =
  | { kind: 'text'; text: string; previewUrl: boolean; quotedId?: string }
  | {
      kind: 'template'
      name: string
      language: string
      parameters: string[]
      headerUploadId?: string
      quotedId?: string
    }
  | { kind: 'media'; uploadId: string; text: string; quotedId?: string }
  | { kind: 'choices'; text: string; choices: Choices; quotedId?: string }
  /** Null takes ours back. */
  | { kind: 'reaction'; messageId: string; emoji: string | null }
  | { kind: 'interactive'; body: object }

/** The contract's interface takes words alone. */
export type SendSyntax = 'contract' | 'whole'

// One check for each kind: a union would answer a single mistake with the complaints of all its members.
const checks = {
  contract: {
    text: compileCheck(TextSend),
    template: compileCheck(TemplateSend),
    interactive: compileCheck(InteractiveSend),
  },
  whole: {
    text: compileCheck(QuotingTextSend),
    template: compileCheck(QuotingTemplateSend),
    media: compileCheck(MediaSend),
    choices: compileCheck(ChoicesSend),
    reaction: compileCheck(ReactionSend),
    interactive: compileCheck(InteractiveSend),
  },
} as const satisfies Record<SendSyntax, Record<string, ReturnType<typeof compileCheck>>>

/** Reads the body of a send; throws InvalidInput when its shape is wrong. What it says is judged later. */
export function parseSendCommand(body: unknown, language: SendSyntax): SendCommand {
  if (body === undefined) throw invalid('', 'is required: send a JSON body')
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('', 'must be object')
  const kind = 'kind' in body ? body.kind : undefined
  if (kind === undefined) throw invalid('kind', 'is required')
  const known: Readonly<Partial<Record<string, ReturnType<typeof compileCheck>>>> = checks[language]
  const check = typeof kind === 'string' && Object.hasOwn(known, kind) ? known[kind] : undefined
  if (check === undefined) {
    const offered = Object.keys(known).filter((name) => name !== 'interactive')
    throw invalid('kind', `must be one of ${offered.join(', ')}`)
  }
  const issues = check(body, '')
  if (issues.length > 0) throw new InvalidInput(issues)
  return commandOf(body as SendBody)
}

type SendBody =
  | { kind: 'text'; text: string; preview_url?: boolean; quoted_message_id?: string }
  | {
      kind: 'template'
      template: { name: string; language: string; body_params?: string[]; header_upload_id?: string }
      quoted_message_id?: string
    }
  | { kind: 'media'; upload_id: string; text?: string; quoted_message_id?: string }
  | { kind: 'choices'; choices: ChoicesFields; quoted_message_id?: string }
  | { kind: 'reaction'; message_id: string; emoji: string | null }
  | { kind: 'interactive' }

function commandOf(body: SendBody): SendCommand {
  const quotedId = 'quoted_message_id' in body ? body.quoted_message_id?.toLowerCase() : undefined
  const quoted = quotedId === undefined ? {} : { quotedId }
  switch (body.kind) {
    case 'text':
      return { kind: 'text', text: body.text, previewUrl: body.preview_url ?? false, ...quoted }
    case 'template': {
      const { name, language, body_params: parameters = [], header_upload_id: id } = body.template
      const header = id === undefined ? {} : { headerUploadId: id.toLowerCase() }
      return { kind: 'template', name, language, parameters, ...header, ...quoted }
    }
    case 'media':
      return { kind: 'media', uploadId: body.upload_id.toLowerCase(), text: body.text ?? '', ...quoted }
    case 'choices':
      return { kind: 'choices', text: body.choices.text, choices: choicesOf(body.choices), ...quoted }
    case 'reaction':
      return { kind: 'reaction', messageId: body.message_id.toLowerCase(), emoji: body.emoji }
    case 'interactive':
      return { kind: 'interactive', body }
    default:
      return body satisfies never
  }
}

/** With an id for each that was given none: its place. */
function choicesOf({ buttons, list, footer }: ChoicesFields): Choices {
  if ((buttons === undefined) === (list === undefined)) {
    throw invalid('choices.buttons', 'or choices.list is required: give one of the two')
  }
  const foot = footer === undefined ? {} : { footer }
  if (list === undefined) return { buttons: (buttons ?? []).map(withId), ...foot }
  return { list: { button: list.button, rows: list.rows.map(withId) }, ...foot }
}

const withId = <C extends { id?: string }>(choice: C, index: number) => ({ ...choice, id: choice.id ?? `${index + 1}` })

const maxLength = 255
const printable = /^[\x20-\x7e]*$/
// RFC 8941: quoted text in which only the quote and the backslash are escaped.
const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/** The value of an `Idempotency-Key` header, given raw or as a quoted string: 1–255 printable ASCII characters. */
export function parseIdempotencyKey(header: string | readonly string[] | undefined): string {
  const rawKey = (typeof header === 'object' ? header.join(', ') : (header ?? '')).trim()
  if (rawKey === '') {
    throw badRequest('Send an Idempotency-Key header with a value of its own for each message', {
      code: 'IDEMPOTENCY_KEY_REQUIRED',
    })
  }
  const key = rawKey.startsWith('"') ? unquoted(rawKey) : rawKey
  if (key === undefined || key === '' || key.length > maxLength || !printable.test(key)) {
    throw invalid('Idempotency-Key', `must have 1 to ${maxLength} printable ASCII characters`, 'headers')
  }
  return key
}

function unquoted(text: string): string | undefined {
  return quoted.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1')
}
