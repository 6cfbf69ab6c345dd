import { solve } from './sha256.ts'
import type { Language } from './texts.ts'

// The chat's connection to the server. Messages have ids of this device, so that sending again is safe, and are fetched
// after the last known number, so that a broken connection loses none.

export interface Config {
  title: string
  color: string
  language: Language
  greeting: Partial<Record<Language, string>>
  fields: Record<Field, 'off' | 'optional' | 'required'>
  whatsappUrl: string | null
  hours: { isOpen: boolean; opensAt: string | null } | null
}
export type Field = 'name' | 'email' | 'phone'
export type Profile = Partial<Record<Field, string>>

export interface Option {
  id: string
  title: string
  description?: string
}

export interface Message {
  id: string
  seq: number
  direction: 'inbound' | 'outbound'
  status: 'sent' | 'delivered' | 'read'
  at: string
  text: string
  clientId?: string
  file?: { id: string | null; kind: string; name: string | null; mimeType: string }
  choices?: { footer?: string } & ({ buttons: Option[] } | { list: { button: string; rows: Option[] } })
  link?: { title: string; url: string }
  about?: { id: string; text: string }
  emoji?: string | null
}

/** A message that the server does not have yet. */
export interface Pending {
  clientId: string
  text: string
  chosen?: { messageId: string; optionId: string }
  /** Only until the page is left. */
  file?: File
  error?: 'tooLarge' | 'notSent'
}

export interface Update {
  messages: Message[]
  hasMore: boolean
  version: number
  readSeq: number
  isTyping: boolean
}

interface Stored {
  token: string
  pending: Pending[]
}

export interface View {
  /** Something besides messages has changed. */
  draw(): void
  update(update: Update): void
  /** The device has no chat any more. */
  clear(): void
}

class Refusal extends Error {
  readonly status: number
  readonly waitMs: number
  constructor(status: number, waitMs: number) {
    super(String(status))
    this.status = status
    this.waitMs = waitMs
  }
}

const maxPauseMs = 30_000
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

export class Client {
  view: View | null = null
  pending: Pending[] = []
  isOffline = false
  isTooFast = false
  readonly #connection: string
  readonly #pageUrl: string
  #token: string | null = null
  #identity: string | null = null
  #profile: Profile = {}
  #after: number | null = null
  #version: number | null = null
  #sending = false
  #following = 0
  #opening: Promise<void> | null = null

  constructor(connection: string, pageUrl: string) {
    this.#pageUrl = pageUrl
    this.#connection = connection
  }

  get hasChat(): boolean {
    return this.#token !== null
  }

  config(): Promise<Config> {
    return this.#call('GET', 'config')
  }

  /** Continues the chat of this device, or that of a signed-in visitor, whose token is never stored here. */
  async resume(identity: string | null): Promise<void> {
    this.#identity = identity
    const stored = identity === null ? this.#read() : null
    if (stored !== null) {
      this.#token = stored.token
      this.pending = stored.pending
    }
    if (identity !== null) await this.#open().catch(() => {})
    void this.#follow()
    void this.#sendAll()
  }

  /** The site says who the visitor is now. What another person has written on this device is not shown to them. */
  async identify(identity: string | null): Promise<void> {
    if (identity === this.#identity) return
    this.#forget()
    await this.resume(identity)
  }

  send(message: Omit<Pending, 'clientId'>, profile: Profile = {}): void {
    if (Object.keys(profile).length > 0) this.#profile = profile
    this.pending.push({ ...message, clientId: newId() })
    this.#write()
    void this.#sendAll()
  }

  retry(): void {
    for (const message of this.pending) delete message.error
    void this.#sendAll()
  }

  async mark(upTo: number, status: 'delivered' | 'read'): Promise<void> {
    await this.#call('POST', 'marks', { upTo, status }).catch(() => {})
  }

  async end(): Promise<void> {
    await this.#call('DELETE', 'sessions').catch(() => {})
    this.#forget()
  }

  async file(id: string): Promise<Blob> {
    const answer = await this.#fetch('GET', `files/${id}`)
    return answer.blob()
  }

  async #open(): Promise<void> {
    this.#opening ??= this.#openOnce().finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  async #openOnce(): Promise<void> {
    const identity = this.#identity
    const proof = identity === null ? await this.#prove() : { identity }
    const opened = await this.#call<{ token: string }>('POST', 'sessions', proof)
    this.#token = opened.token
    this.#write()
    void this.#follow()
  }

  async #prove(): Promise<object> {
    const { challenge, bits } = await this.#call<{ challenge: string; bits: number }>('POST', 'challenges')
    return { challenge, solution: await solve(challenge, bits), profile: this.#profile }
  }

  /** Sends what is waiting, one by one; only an answer of the server removes a message. */
  async #sendAll(): Promise<void> {
    if (this.#sending) return
    this.#sending = true
    this.view?.draw()
    for (let pauseMs = 1_000; ; ) {
      const next = this.pending.find(({ error }) => error === undefined)
      if (next === undefined) break
      try {
        if (this.#token === null) await this.#open()
        await this.#sendOne(next)
        // The chat brings it back with its number; until then it stays drawn.
        this.pending = this.pending.filter((each) => each !== next)
        this.#write()
        pauseMs = 1_000
      } catch (error) {
        const { status = 0, waitMs = 0 } = error instanceof Refusal ? error : {}
        if (status === 401 && this.#identity === null) this.#lose()
        else if (status === 413 || status === 422) next.error = 'tooLarge'
        else if (status === 403 || status === 404 || (status === 401 && this.#identity !== null)) next.error = 'notSent'
        else {
          this.isTooFast = status === 429
          this.view?.draw()
          await pause(Math.max(waitMs, pauseMs))
          pauseMs = Math.min(pauseMs * 2, maxPauseMs)
        }
      }
      this.isTooFast = false
      this.view?.draw()
    }
    this.#sending = false
  }

  async #sendOne({ clientId, text, chosen, file }: Pending): Promise<void> {
    // Where the chat begins, which tells the campaign that brought the visitor.
    const page = this.#after || this.#pageUrl === '' ? {} : { page: this.#pageUrl }
    if (file === undefined) await this.#call('POST', 'messages', { clientId, text, ...page, ...(chosen && { chosen }) })
    else {
      const query = new URLSearchParams({ clientId, name: file.name.slice(0, 200) })
      await this.#fetch('POST', `files?${query}`, file, 'application/octet-stream')
    }
  }

  /** Follows the chat until it ends. A later call replaces an earlier one. */
  async #follow(): Promise<void> {
    const own = ++this.#following
    let pauseMs = 1_000
    while (own === this.#following && this.#token !== null) {
      try {
        const update = await this.#call<Update>('GET', `updates?${this.#position()}`)
        if (own !== this.#following) return
        this.#after = update.messages.at(-1)?.seq ?? this.#after ?? 0
        // With more to come, the next request must not wait.
        this.#version = update.hasMore ? null : update.version
        this.isOffline = false
        pauseMs = 1_000
        this.view?.update(update)
      } catch (error) {
        if (own !== this.#following) return
        const { status = 0, waitMs = 0 } = error instanceof Refusal ? error : {}
        if (status === 401) return this.#lose()
        this.isOffline = status === 0
        this.view?.draw()
        await pause(Math.max(waitMs, pauseMs))
        pauseMs = Math.min(pauseMs * 2, maxPauseMs)
      }
    }
  }

  #position(): URLSearchParams {
    const query = new URLSearchParams({ wait: this.#version === null ? '0' : '25' })
    if (this.#after !== null) query.set('after', String(this.#after))
    if (this.#version !== null) query.set('version', String(this.#version))
    return query
  }

  /** The server no longer knows the session. What is waiting is sent in a new one. */
  #lose(): void {
    const { pending } = this
    this.#forget()
    this.pending = pending
  }

  #forget(): void {
    this.#following++
    this.#token = null
    this.#after = null
    this.#version = null
    this.pending = []
    try {
      localStorage.removeItem(this.#key)
    } catch {}
    this.view?.clear()
  }

  get #key(): string {
    return `parley-chat:${this.#connection}`
  }

  #read(): Stored | null {
    try {
      const stored = JSON.parse(localStorage.getItem(this.#key) ?? 'null') as Stored | null
      return stored !== null && typeof stored.token === 'string' && Array.isArray(stored.pending) ? stored : null
    } catch {
      return null
    }
  }

  #write(): void {
    if (this.#token === null || this.#identity !== null) return
    const pending = this.pending.filter(({ file }) => file === undefined)
    try {
      localStorage.setItem(this.#key, JSON.stringify({ token: this.#token, pending } satisfies Stored))
    } catch {
      // Without storage the chat lasts as long as the page.
    }
  }

  async #call<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await this.#fetch(method, path, body && JSON.stringify(body), body && 'application/json')
    return answer.json() as Promise<T>
  }

  async #fetch(method: string, path: string, body?: BodyInit, type?: string): Promise<Response> {
    const headers: Record<string, string> = {}
    if (this.#token !== null) headers.authorization = `Bearer ${this.#token}`
    if (type !== undefined) headers['content-type'] = type
    // Never the cookies of people of the team who look at their own site.
    const options: RequestInit = { method, headers, credentials: 'omit', referrerPolicy: 'no-referrer' }
    const answer = await fetch(
      `/widget/v1/${this.#connection}/${path}`,
      body === undefined ? options : { ...options, body },
    )
    if (answer.ok) return answer
    throw new Refusal(answer.status, Math.min(60, Number(answer.headers.get('retry-after')) || 0) * 1000)
  }
}

/** Returns a random id (UUID version 4); the browser's own function needs HTTPS. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
