import type { Choice, Offer } from '../world.ts'
import { type Body, GraphError, invalidParameter, isObject, missingParameter } from './graph-error.ts'

/** A text with buttons or a list to choose from. */
export interface InteractiveContent {
  kind: 'interactive'
  text: string
  parts: { footer: string | null; offer: Offer }
  failWith: null
}

const longest = { body: 1024, listBody: 4096, footer: 60, buttonId: 256, rowId: 200, title: 20, rowTitle: 24 } as const
const maxDescription = 72
const [maxButtons, maxSections, maxRows] = [3, 10, 10]

/** Throws what the platform answers to a bad one. */
export function checkInteractive(value: unknown): InteractiveContent {
  if (!isObject(value)) throw missingParameter('Parameter interactive is required.')
  const { type, body, footer, action } = value
  if (type !== 'button' && type !== 'list') {
    throw new GraphError(131051, {
      details: 'The simulator sends buttons and lists, and no other interactive messages.',
    })
  }
  if (!isObject(body)) throw missingParameter('Parameter interactive.body is required.')
  const text = checkWords(body.text, 'interactive.body.text', type === 'list' ? longest.listBody : longest.body)
  const foot = footer === undefined ? null : footer
  if (foot !== null && !isObject(foot)) throw invalidParameter('Param interactive.footer must be a JSON object.')
  if (!isObject(action)) throw missingParameter('Parameter interactive.action is required.')
  const offer = type === 'list' ? checkList(action) : checkButtons(action)
  const parts = {
    footer: foot === null ? null : checkWords(foot.text, 'interactive.footer.text', longest.footer),
    offer,
  }
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
      title: checkWords(title, `${at}.reply.title`, longest.title),
    }
  })
  checkDistinct(options, 'title', 'interactive.action.buttons')
  checkDistinct(options, 'id', 'interactive.action.buttons')
  return { button: null, options }
}

function checkList({ button, sections }: Body): Offer {
  const label = checkWords(button, 'interactive.action.button', longest.title)
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
  if (isOneOfMany || section.title !== undefined) checkWords(section.title, `${at}.title`, longest.rowTitle)
  return section.rows.map((row: unknown, place): Choice => {
    const rowAt = `${at}.rows[${place}]`
    if (!isObject(row)) throw invalidParameter(`Param ${rowAt} must be a JSON object.`)
    const { id, title, description } = row
    return {
      id: checkId(id, `${rowAt}.id`, longest.rowId),
      title: checkWords(title, `${rowAt}.title`, longest.rowTitle),
      ...(description === undefined
        ? {}
        : { description: checkWords(description, `${rowAt}.description`, maxDescription) }),
    }
  })
}

function checkDistinct(options: readonly Choice[], key: 'id' | 'title', at: string): void {
  if (new Set(options.map((one) => one[key])).size < options.length) {
    throw new GraphError(131009, { details: `Duplicate ${key} in ${at}.` })
  }
}

function checkId(value: unknown, what: string, maxLength: number): string {
  const id = checkWords(value, what, maxLength)
  if (id !== id.trim()) throw new GraphError(131009, { details: `Parameter ${what} begins or ends with a space.` })
  return id
}

// The platform does not say what it counts; UTF-16 units are the strictest reading.
function checkWords(value: unknown, what: string, maxLength: number): string {
  if (typeof value !== 'string' || value === '') throw missingParameter(`Parameter ${what} is required.`)
  if (value.trim() !== '' && value.length <= maxLength) return value
  throw new GraphError(131009, { details: `Parameter ${what} must have 1 to ${maxLength} characters.` })
}
