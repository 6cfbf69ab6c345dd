import { badRequest, InvalidInput, invalid } from '../../base/errors.ts'
import { compileCheck } from '../../base/validation.ts'
import type { HeaderLocation } from '../../channels/connector.ts'
import type { Choices } from '../../channels/interactive-options.ts'
import type { Prompt, PromptType } from '../../channels/prompts.ts'
import { type PromptFields, promptOf } from './prompt-schema.ts'
import {
  type ChoicesFields,
  ChoicesSend,
  InteractiveSend,
  MediaSend,
  PromptSends,
  QuotingTemplateSend,
  QuotingTextSend,
  ReactionSend,
  type TemplateChoice,
  TemplateSend,
  TextSend,
} from './send-schema.ts'

/** A quick reply by its position among the buttons of a template. */
export interface QuickReply {
  index: number
  payload: string
}

/** Parsed body of a send. Unset options are absent, because fingerprints of idempotency keys include all fields. */
export type SendCommand =
  | { kind: 'text'; text: string; previewUrl: boolean; quotedId?: string }
  | {
      kind: 'template'
      name: string
      language: string
      parameters: string[]
      headerUploadId?: string
      headerUrl?: string
      headerText?: string
      headerLocation?: HeaderLocation
      buttonParameters?: string[]
      /** What the answers by quick replies contain; only for messages of the service. */
      quickReplies?: readonly QuickReply[]
      quotedId?: string
    }
  | { kind: 'media'; uploadId: string; text: string; quotedId?: string }
  | { kind: 'choices'; text: string; choices: Choices; quotedId?: string }
  | { kind: 'prompt'; text: string; prompt: Prompt; quotedId?: string }
  /** Null removes our reaction. */
  | { kind: 'reaction'; messageId: string; emoji: string | null }
  | { kind: 'interactive'; body: object }

/** The Inbox API of the contract accepts only text and templates. */
export type SendSyntax = 'contract' | 'whole'

// One check per kind: validating a union would report the errors of all its members.
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
    link: compileCheck(PromptSends.link),
    location_request: compileCheck(PromptSends.location_request),
    contact_request: compileCheck(PromptSends.contact_request),
    address_request: compileCheck(PromptSends.address_request),
    flow: compileCheck(PromptSends.flow),
    reaction: compileCheck(ReactionSend),
    interactive: compileCheck(InteractiveSend),
  },
} as const satisfies Record<SendSyntax, Record<string, ReturnType<typeof compileCheck>>>

/** Parses the body of a send. Throws InvalidInput for a wrong shape; the content is validated later. */
export function parseSendCommand(body: unknown, syntax: SendSyntax): SendCommand {
  if (body === undefined) throw invalid('', 'is required: send a JSON body')
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('', 'must be object')
  const kind = 'kind' in body ? body.kind : undefined
  if (kind === undefined) throw invalid('kind', 'is required')
  const known: Readonly<Partial<Record<string, ReturnType<typeof compileCheck>>>> = checks[syntax]
  const check = typeof kind === 'string' && Object.hasOwn(known, kind) ? known[kind] : undefined
  if (check === undefined) {
    const supported = Object.keys(known).filter((name) => name !== 'interactive')
    throw invalid('kind', `must be one of ${supported.join(', ')}`)
  }
  const issues = check(body, '')
  if (issues.length > 0) throw new InvalidInput(issues)
  return commandOf(body as SendBody)
}

type SendBody =
  | { kind: 'text'; text: string; preview_url?: boolean; quoted_message_id?: string }
  | {
      kind: 'template'
      template: TemplateChoice & { header_upload_id?: string }
      quoted_message_id?: string
    }
  | { kind: 'media'; upload_id: string; text?: string; quoted_message_id?: string }
  | { kind: 'choices'; choices: ChoicesFields; quoted_message_id?: string }
  | { [K in PromptType]: { kind: K; quoted_message_id?: string } & Record<K, PromptFields[K]> }[PromptType]
  | { kind: 'reaction'; message_id: string; emoji: string | null }
  | { kind: 'interactive' }

function commandOf(body: SendBody): SendCommand {
  const quotedId = 'quoted_message_id' in body ? body.quoted_message_id?.toLowerCase() : undefined
  const quoted = quotedId === undefined ? {} : { quotedId }
  switch (body.kind) {
    case 'text':
      return { kind: 'text', text: body.text, previewUrl: body.preview_url ?? false, ...quoted }
    case 'template': {
      const { header_upload_id: id } = body.template
      const header = id === undefined ? {} : { headerUploadId: id.toLowerCase() }
      return { ...templateCommandOf(body.template), ...header, ...quoted }
    }
    case 'media':
      return { kind: 'media', uploadId: body.upload_id.toLowerCase(), text: body.text ?? '', ...quoted }
    case 'choices':
      return { kind: 'choices', text: body.choices.text, choices: choicesOf(body.choices), ...quoted }
    case 'link':
      return { kind: 'prompt', text: body.link.text, prompt: promptOf('link', body.link), ...quoted }
    case 'location_request':
      return { kind: 'prompt', text: body.location_request.text, prompt: { type: body.kind }, ...quoted }
    case 'contact_request':
      return { kind: 'prompt', text: body.contact_request.text, prompt: { type: body.kind }, ...quoted }
    case 'address_request':
      return { kind: 'prompt', text: body.address_request.text, prompt: { type: body.kind }, ...quoted }
    case 'flow':
      return { kind: 'prompt', text: body.flow.text, prompt: promptOf('flow', body.flow), ...quoted }
    case 'reaction':
      return { kind: 'reaction', messageId: body.message_id.toLowerCase(), emoji: body.emoji }
    case 'interactive':
      return { kind: 'interactive', body }
    default:
      return body satisfies never
  }
}

/** Returns the command for a chosen template, without an upload for its header. */
export function templateCommandOf(chosen: TemplateChoice): Extract<SendCommand, { kind: 'template' }> {
  const {
    name,
    language,
    body_params: parameters = [],
    header_param,
    header_url,
    header_location,
    button_params,
  } = chosen
  return {
    ...{ kind: 'template', name, language, parameters },
    ...(header_url !== undefined && { headerUrl: header_url }),
    ...(header_param !== undefined && { headerText: header_param }),
    ...(header_location !== undefined && { headerLocation: header_location }),
    ...(button_params !== undefined && { buttonParameters: button_params }),
  }
}

/** Assigns the position as id to options without one. */
function choicesOf({ buttons, list, footer }: ChoicesFields): Choices {
  if ((buttons === undefined) === (list === undefined)) {
    throw invalid('choices.buttons', 'or choices.list is required: send exactly one of them')
  }
  const footerField = footer === undefined ? {} : { footer }
  if (list === undefined) return { buttons: (buttons ?? []).map(withId), ...footerField }
  return { list: { button: list.button, rows: list.rows.map(withId) }, ...footerField }
}

const withId = <C extends { id?: string }>(choice: C, index: number) => ({ ...choice, id: choice.id ?? `${index + 1}` })

const maxLength = 255
const printable = /^[\x20-\x7e]*$/
// RFC 8941: quoted string in which only quote and backslash are escaped.
const quoted = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/** Parses an `Idempotency-Key` header, raw or as a quoted string: 1–255 printable ASCII characters. */
export function parseIdempotencyKey(header: string | readonly string[] | undefined): string {
  const rawKey = (typeof header === 'object' ? header.join(', ') : (header ?? '')).trim()
  if (rawKey === '') {
    throw badRequest('The Idempotency-Key header is required. Use a unique value for each message.', {
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
