import { t } from '../../text/index.ts'

export interface SystemMessage {
  content: string
  /** Null if it is not a call. */
  call: 'answered' | 'missed' | null
}

const call = /^(?:(missed|declined) )?(video )?call(?: \((\d{1,3}(?::\d\d){1,2})\))?$/i
const unshown = /^Message of a kind that cannot be shown(?:: ([a-z_]{1,40}))?$/

const known: Record<string, () => string> = {
  'The customer changed their phone number': () => t.inbox.notices.newNumber,
  'The customer changed their account': () => t.inbox.notices.newAccount,
  'The security code of the customer changed': () => t.inbox.notices.newCode,
}

/** Translates a `system` message; the server uses a few fixed sentences. */
export function parseSystemMessage(text: string): SystemMessage {
  const { notices } = t.inbox
  const [ended, how, video, length] = call.exec(text) ?? []
  if (ended !== undefined) {
    const isVideo = video !== undefined
    const end = how?.toLowerCase()
    if (end === 'missed') return { content: isVideo ? notices.missedVideo : notices.missed, call: 'missed' }
    if (end === 'declined') return { content: isVideo ? notices.declinedVideo : notices.declined, call: 'missed' }
    const texts = isVideo ? notices.video : notices.call
    return { content: length === undefined ? texts : `${texts} (${length})`, call: 'answered' }
  }
  const [isUnshown, what] = unshown.exec(text) ?? []
  if (isUnshown !== undefined) {
    return {
      content: what === undefined ? notices.unsupported : notices.unsupportedKind({ kind: what.replaceAll('_', ' ') }),
      call: null,
    }
  }
  return { content: known[text]?.() ?? text, call: null }
}
