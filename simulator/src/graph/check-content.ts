import type { FileStore } from '../files/file-store.ts'
import {
  type Card,
  describeFile,
  type FileKind,
  type Place,
  type ShownFile,
  shownFile,
  shownLink,
} from '../files/present-file.ts'
import type { Choice, Offer, Prompt } from '../world.ts'
import { checkPrompt, hasNoFooter } from './check-prompt.ts'
import { type Body, GraphError, invalidParameter, isObject, missingParameter } from './graph-error.ts'
import { canSendAs } from './media-routes.ts'

/** Text with buttons or a list to choose from, or with one button that asks for something. */
export interface InteractiveContent {
  kind: 'interactive'
  text: string
  parts: { footer: string | null; offer: Offer } | { footer: string | null; prompt: Prompt }
  failWith: null
}

const longest = { body: 1024, listBody: 4096, footer: 60, buttonId: 256, rowId: 200, title: 20, rowTitle: 24 } as const
const maxDescription = 72
const [maxButtons, maxSections, maxRows] = [3, 10, 10]

/** Throws the platform's error for invalid content. */
export function checkInteractive(value: unknown): InteractiveContent {
  if (!isObject(value)) throw missingParameter('Parameter interactive is required.')
  const { type, body, footer, action } = value
  const isOffer = type === 'button' || type === 'list'
  const prompt = isOffer || typeof type !== 'string' || !isObject(action) ? null : checkPrompt(type, action)
  if (!isOffer && prompt === null) {
    throw new GraphError(131051, {
      details: 'The simulator sends buttons, lists, links, requests and flows, and no other interactive messages.',
    })
  }
  if (!isObject(body)) throw missingParameter('Parameter interactive.body is required.')
  const text = requireText(body.text, 'interactive.body.text', type === 'list' ? longest.listBody : longest.body)
  const foot = footer === undefined ? null : footer
  if (foot !== null && !isObject(foot)) throw invalidParameter('Param interactive.footer must be a JSON object.')
  if (!isObject(action)) throw missingParameter('Parameter interactive.action is required.')
  if (foot !== null && hasNoFooter(String(type)))
    throw invalidParameter('Unexpected key "footer" on param "interactive".')
  const shownFooter = foot === null ? null : requireText(foot.text, 'interactive.footer.text', longest.footer)
  const parts =
    prompt === null
      ? { footer: shownFooter, offer: type === 'list' ? checkList(action) : checkButtons(action) }
      : { footer: shownFooter, prompt }
  return { kind: 'interactive', text, parts, failWith: null }
}

function checkButtons({ buttons }: Body): Offer {
  if (!Array.isArray(buttons) || buttons.length === 0 || buttons.length > maxButtons) {
    throw invalidParameter(`Param interactive.action.buttons must have 1 to ${maxButtons} entries.`)
  }
  const options = buttons.map((button, n) => {
    const at = `interactive.action.buttons[${n}]`
    if (!isObject(button) || button.type !== 'reply' || !isObject(button.reply)) {
      throw invalidParameter(`Param ${at} must be a reply button.`)
    }
    const { id, title } = button.reply
    return {
      id: checkId(id, `${at}.reply.id`, longest.buttonId),
      title: requireText(title, `${at}.reply.title`, longest.title),
    }
  })
  checkDistinct(options, 'title', 'interactive.action.buttons')
  checkDistinct(options, 'id', 'interactive.action.buttons')
  return { button: null, options }
}

function checkList({ button, sections }: Body): Offer {
  const label = requireText(button, 'interactive.action.button', longest.title)
  if (!Array.isArray(sections) || sections.length === 0 || sections.length > maxSections) {
    throw invalidParameter(`Param interactive.action.sections must have 1 to ${maxSections} entries.`)
  }
  const options = sections.flatMap((section, n) => checkSection(section, n, sections.length > 1))
  if (options.length > maxRows) throw invalidParameter(`A list may have at most ${maxRows} rows in all its sections.`)
  checkDistinct(options, 'id', 'interactive.action.sections')
  return { button: label, options }
}

function checkSection(section: unknown, n: number, isOneOfMany: boolean): Choice[] {
  const at = `interactive.action.sections[${n}]`
  if (!isObject(section) || !Array.isArray(section.rows) || section.rows.length === 0) {
    throw missingParameter(`Parameter ${at}.rows is required.`)
  }
  if (isOneOfMany || section.title !== undefined) requireText(section.title, `${at}.title`, longest.rowTitle)
  return section.rows.map((row: unknown, place): Choice => {
    const rowAt = `${at}.rows[${place}]`
    if (!isObject(row)) throw invalidParameter(`Param ${rowAt} must be a JSON object.`)
    const { id, title, description } = row
    return {
      id: checkId(id, `${rowAt}.id`, longest.rowId),
      title: requireText(title, `${rowAt}.title`, longest.rowTitle),
      ...(description === undefined
        ? {}
        : { description: requireText(description, `${rowAt}.description`, maxDescription) }),
    }
  })
}

function checkDistinct(options: readonly Choice[], key: 'id' | 'title', at: string): void {
  if (new Set(options.map((one) => one[key])).size < options.length) {
    throw new GraphError(131009, { details: `Duplicate ${key} in ${at}.` })
  }
}

function checkId(value: unknown, what: string, maxLength: number): string {
  const id = requireText(value, what, maxLength)
  if (id !== id.trim()) throw new GraphError(131009, { details: `Parameter ${what} begins or ends with a space.` })
  return id
}

// The platform does not document what it counts; UTF-16 units are the strictest reading.
function requireText(value: unknown, what: string, maxLength: number): string {
  if (typeof value !== 'string' || value === '') throw missingParameter(`Parameter ${what} is required.`)
  if (value.trim() !== '' && value.length <= maxLength) return value
  throw new GraphError(131009, { details: `Parameter ${what} must have 1 to ${maxLength} characters.` })
}

/** Content other than text. `failWith` is the code with which the message fails after it was accepted. */
export interface RichContent {
  kind: FileKind | 'location' | 'contacts'
  /** Text for lists of chats. */
  text: string
  parts: { file?: ShownFile; place?: Place; cards?: Card[]; caption?: string | null }
  failWith: number | null
}

export interface ReactionContent {
  kind: 'reaction'
  messageId: string
  /** Null removes the reaction. */
  emoji: string | null
}

const fileTypes = ['image', 'video', 'audio', 'document', 'sticker'] as const
type FileType = (typeof fileTypes)[number]
const maxCaption = 1024
const maxName = 240
const maxWords = 1000
const maxCards = 257
const mediaUploadError = 131053

/** Parses types other than text and template; null for an unknown type. Throws the platform's error if invalid. */
export function checkContent(
  type: string,
  body: Body,
  files: FileStore,
  numberId: string,
): RichContent | ReactionContent | null {
  if (isFileType(type)) return checkFile(type, body[type], files, numberId)
  if (type === 'location') return checkLocation(body.location)
  if (type === 'contacts') return checkContacts(body.contacts)
  return type === 'reaction' ? checkReaction(body.reaction) : null
}

const isFileType = (type: string): type is FileType => (fileTypes as readonly string[]).includes(type)

const keysOf: Record<FileType, readonly string[]> = {
  image: ['id', 'link', 'caption'],
  video: ['id', 'link', 'caption'],
  audio: ['id', 'link', 'voice'],
  document: ['id', 'link', 'caption', 'filename'],
  sticker: ['id', 'link'],
}

function checkFile(type: FileType, value: unknown, files: FileStore, numberId: string): RichContent {
  if (!isObject(value)) throw missingParameter(`Parameter ${type} is required.`)
  const unknown = Object.keys(value).find((key) => !keysOf[type].includes(key))
  if (unknown !== undefined) throw invalidParameter(`Unexpected key "${unknown.slice(0, 40)}" on param "${type}".`)
  const caption = checkWords(value.caption, `${type}['caption']`, maxCaption)
  const name = checkWords(value.filename, `${type}['filename']`, maxName)
  if (value.voice !== undefined && typeof value.voice !== 'boolean') {
    throw invalidParameter("Param audio['voice'] must be a boolean.")
  }
  const kind = type === 'audio' && value.voice === true ? 'voice' : type
  const { file, failWith } = parseFileReference(kind, value, files, numberId, name)
  return { kind, text: describeFile(kind, caption ?? name), parts: { file, caption }, failWith }
}

/** Parses a file reference by id or link. A problem with the file itself shows later, as the status `failed`. */
export function parseFileReference(
  kind: FileKind,
  { id, link }: Body,
  files: FileStore,
  numberId: string,
  name: string | null,
): { file: ShownFile; failWith: number | null } {
  if (id !== undefined && link !== undefined) throw invalidParameter('Only one of id and link may be given.')
  if (link !== undefined) {
    const isAddress =
      typeof link === 'string' && link.length <= 2048 && /^https?:\/\//i.test(link) && URL.canParse(link)
    if (!isAddress) throw invalidParameter('Param link is not a valid URI.')
    return { file: shownLink(kind, link, name), failWith: null }
  }
  if (typeof id !== 'string' && typeof id !== 'number') throw missingParameter('Either id or link is required.')
  const file = files.find(String(id))
  if (file?.numberId !== numberId) throw invalidParameter('Invalid parameter: the media id is not one of this number.')
  const failWith = canSendAs(kind, file.mimeType) ? null : mediaUploadError
  return { file: shownFile(kind, file, name ?? (kind === 'document' ? file.name : null)), failWith }
}

function checkWords(value: unknown, what: string, maxLength: number): string | null {
  if (value === undefined || value === '') return null
  if (typeof value !== 'string') throw invalidParameter(`Param ${what} must be a string.`)
  if (value.length > maxLength) throw invalidParameter(`Param ${what} must be at most ${maxLength} characters long.`)
  return value
}

/** Parses a location, of a message or of a template header. */
export function checkPlace(value: unknown): Place {
  if (!isObject(value)) throw missingParameter('Parameter location is required.')
  const [latitude, longitude] = [checkDegrees(value.latitude, 90), checkDegrees(value.longitude, 180)]
  const name = checkWords(value.name, "location['name']", maxWords)
  const address = checkWords(value.address, "location['address']", maxWords)
  return { latitude, longitude, ...(name === null ? {} : { name }), ...(address === null ? {} : { address }) }
}

function checkLocation(value: unknown): RichContent {
  const place = checkPlace(value)
  const words = place.name ?? place.address
  return { kind: 'location', text: words ? `📍 Location · ${words}` : '📍 Location', parts: { place }, failWith: null }
}

function checkDegrees(value: unknown, most: number): number {
  if (value === undefined) throw missingParameter('Parameters location.latitude and location.longitude are required.')
  const degrees = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof degrees === 'number' && Math.abs(degrees) <= most) return degrees
  throw new GraphError(131009, { details: `A coordinate is not a number between -${most} and ${most}.` })
}

function checkContacts(value: unknown): RichContent {
  if (!Array.isArray(value) || value.length === 0) throw missingParameter('Parameter contacts is required.')
  if (value.length > maxCards) throw invalidParameter(`Param contacts must have at most ${maxCards} entries.`)
  const cards = value.map(checkCard)
  const [first] = cards
  return { kind: 'contacts', text: `👤 Contact · ${first?.name ?? ''}`, parts: { cards }, failWith: null }
}

function checkCard(value: unknown): Card {
  const { name, phones = [], emails = [], org } = isObject(value) ? value : {}
  if (!isObject(name) || typeof name.formatted_name !== 'string' || name.formatted_name === '') {
    throw missingParameter('Parameter contacts.name.formatted_name is required.')
  }
  const others = ['first_name', 'last_name', 'middle_name', 'prefix', 'suffix']
  if (!others.some((part) => typeof name[part] === 'string')) {
    throw missingParameter('contacts.name needs one of first_name, last_name, middle_name, prefix and suffix.')
  }
  const textsOf = (list: unknown, key: string): string[] =>
    (Array.isArray(list) ? list : []).flatMap((one) =>
      isObject(one) && typeof one[key] === 'string' ? [one[key]] : [],
    )
  const organisation = isObject(org) && typeof org.company === 'string' ? { organisation: org.company } : {}
  const words = { name: name.formatted_name.slice(0, maxWords), emails: textsOf(emails, 'email') }
  return { ...words, ...organisation, phones: textsOf(phones, 'phone').map((phone) => phone.replace(/^\+/, '')) }
}

function checkReaction(value: unknown): ReactionContent {
  if (!isObject(value)) throw missingParameter('Parameter reaction is required.')
  const { message_id: messageId, emoji } = value
  if (typeof messageId !== 'string' || messageId === '')
    throw missingParameter('Parameter reaction.message_id is required.')
  if (typeof emoji !== 'string') throw missingParameter('Parameter reaction.emoji is required.')
  if (emoji !== '' && !isOneEmoji(emoji)) throw new GraphError(131009, { details: 'Emoji is not a single emoji.' })
  return { kind: 'reaction', messageId, emoji: emoji === '' ? null : emoji }
}

const letters = new Intl.Segmenter('en', { granularity: 'grapheme' })

const isOneEmoji = (text: string): boolean =>
  text.length <= 40 &&
  [...letters.segment(text)].length === 1 &&
  /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u.test(text)
