import './chat.css'
import { Client, type Config, type Field, type Message, type Profile, type Update, type View } from './client.ts'
import { make, textOn } from './elements.ts'
import { drawMessage, drawPending } from './message-view.ts'
import { languageOf, texts, type Words } from './texts.ts'

// The page in the frame. It listens only to the page that embeds it, which the server has allowed.

const page = new URLSearchParams(location.hash.slice(1))
const lang = new URLSearchParams(location.search).get('lang') ?? ''
const parentOrigin = page.get('origin') ?? ''
const typingMs = 25_000
const maxFileBytes = 8 * 1024 * 1024

const tell = (message: object) => {
  if (window.parent !== window && parentOrigin !== '')
    window.parent.postMessage({ parley: true, ...message }, parentOrigin)
}

async function start(): Promise<void> {
  const client = new Client(document.body.dataset.connection ?? '', page.get('url') ?? '')
  const config = await client.config().catch(() => null)
  const language = languageOf(lang) ?? config?.language ?? 'en'
  document.documentElement.lang = language
  if (config === null) {
    document.body.append(make('p', { class: 'notice', role: 'alert' }, texts[language].unreachable))
    return
  }
  const theme = page.get('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  document.documentElement.style.setProperty('--accent', config.color)
  document.documentElement.style.setProperty('--on-accent', textOn(config.color))
  const chat = new ChatView(client, config, texts[language], config.greeting[language] ?? texts[language].greeting)
  client.view = chat
  window.addEventListener('message', ({ source, data }: MessageEvent) => {
    if (source !== window.parent || data?.parley !== true) return
    if (data.type === 'start') {
      chat.setOpen(data.isOpen === true)
      void client.resume(typeof data.identity === 'string' ? data.identity : null)
    }
    if (data.type === 'identify') void client.identify(typeof data.identity === 'string' ? data.identity : null)
    if (data.type === 'open' || data.type === 'close') chat.setOpen(data.type === 'open')
  })
  if (window.parent === window) {
    chat.setOpen(true)
    await client.resume(null)
  }
  tell({ type: 'ready' })
}

class ChatView implements View {
  readonly #client: Client
  readonly #config: Config
  readonly #words: Words
  readonly #log = make('div', { class: 'log', role: 'log', 'aria-live': 'polite', tabindex: '0' })
  readonly #pending = make('div', {})
  readonly #state = make('p', { class: 'state', role: 'status' })
  readonly #input: HTMLTextAreaElement
  readonly #fields: HTMLFieldSetElement
  readonly #messages = new Map<string, Message>()
  #isOpen = false
  #readSeq = 0
  #typingUntil = 0
  #marked = 0

  constructor(client: Client, config: Config, words: Words, greeting: string) {
    this.#client = client
    this.#config = config
    this.#words = words
    this.#input = make('textarea', {
      rows: '1',
      maxlength: '4000',
      'aria-label': words.write,
      placeholder: words.write,
    })
    this.#fields = this.#makeFields()
    this.#log.setAttribute('aria-label', words.chat)
    this.#log.append(make('div', { class: 'message theirs' }, make('p', {}, greeting)))
    const parts = [this.#makeHead(), this.#log, this.#pending, this.#state, this.#makeForm()]
    document.body.append(make('div', { role: 'dialog', 'aria-label': config.title }, make('main', {}, ...parts)))
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') tell({ type: 'close' })
    })
    document.addEventListener('visibilitychange', () => this.#mark())
    this.draw()
  }

  setOpen(isOpen: boolean): void {
    this.#isOpen = isOpen
    if (isOpen) this.#input.focus()
    this.#mark()
  }

  update({ messages, readSeq, isTyping }: Update): void {
    for (const message of messages) this.#add(message)
    this.#readSeq = Math.max(this.#readSeq, readSeq)
    if (readSeq >= 0) this.#typingUntil = isTyping ? Date.now() + typingMs : 0
    if (isTyping) setTimeout(() => this.draw(), typingMs + 100)
    this.draw()
    if (messages.length > 0) this.#log.scrollTop = this.#log.scrollHeight
    const newest = messages.findLast(({ direction }) => direction === 'outbound')?.seq ?? 0
    if (newest > this.#marked && !this.#isSeen) void this.#client.mark(newest, 'delivered')
    this.#mark()
  }

  clear(): void {
    for (const each of this.#log.querySelectorAll('[data-id]')) each.remove()
    this.#messages.clear()
    this.#readSeq = this.#marked = this.#typingUntil = 0
    tell({ type: 'begun', begun: false })
    this.draw()
  }

  /** Draws what changes besides messages. */
  draw(): void {
    const { pending, isOffline, isTooFast, hasChat } = this.#client
    this.#pending.replaceChildren(...pending.map((each) => drawPending(each, this.#words, () => this.#client.retry())))
    this.#fields.hidden = this.#messages.size > 0 || pending.length > 0
    this.#state.textContent = this.#stateText(isOffline, isTooFast)
    this.#log.classList.toggle('begun', hasChat)
    if (hasChat) tell({ type: 'begun', begun: true })
    if (pending.length > 0) this.#log.scrollTop = this.#log.scrollHeight
    tell({ type: 'unread', count: this.#isSeen ? 0 : this.#unread.length })
  }

  #stateText(isOffline: boolean, isTooFast: boolean): string {
    const words = this.#words
    if (isOffline) return words.offline
    if (isTooFast) return words.tooFast
    if (this.#typingUntil > Date.now()) return `${this.#config.title} ${words.typing}`
    if (this.#client.pending.some(({ error }) => error === undefined)) return words.sending
    const last = [...this.#messages.values()].findLast(({ emoji }) => emoji === undefined)
    if (last?.direction === 'inbound') return last.seq <= this.#readSeq ? words.read : words.sent
    return last === undefined ? this.#hoursText() : ''
  }

  #hoursText(): string {
    const { hours } = this.#config
    if (hours === null || hours.isOpen) return this.#words.stored
    if (hours.opensAt === null) return this.#words.closed
    const shape = { weekday: 'long', hour: '2-digit', minute: '2-digit' } as const
    return this.#words.opensAt(new Date(hours.opensAt).toLocaleString(document.documentElement.lang, shape))
  }

  get #isSeen(): boolean {
    return this.#isOpen && document.visibilityState === 'visible'
  }

  get #unread(): Message[] {
    const all = [...this.#messages.values()]
    return all.filter((one) => one.direction === 'outbound' && one.status !== 'read' && one.seq > this.#marked)
  }

  #mark(): void {
    const newest = this.#unread.at(-1)
    if (this.#isSeen && newest !== undefined) {
      this.#marked = newest.seq
      void this.#client.mark(newest.seq, 'read')
    }
    this.draw()
  }

  #add(message: Message): void {
    if (this.#messages.has(message.id)) return
    this.#messages.set(message.id, message)
    const { emoji, about, clientId } = message
    // It may have arrived before the answer to its sending.
    this.#client.pending = this.#client.pending.filter((each) => each.clientId !== clientId)
    const target = about && this.#log.querySelector(`[data-id="${CSS.escape(about.id)}"]`)
    if (emoji !== undefined) {
      target?.querySelector('.reaction')?.remove()
      if (emoji !== null) target?.append(make('span', { class: 'reaction' }, emoji))
      return
    }
    // An option was chosen, here or on another device.
    if (message.direction === 'inbound')
      for (const each of target?.querySelectorAll('button') ?? []) each.disabled = true
    this.#log.append(drawMessage(message, { client: this.#client, words: this.#words, title: this.#config.title }))
  }

  #makeHead(): HTMLElement {
    const words = this.#words
    const { title, whatsappUrl } = this.#config
    const askToClose = () => tell({ type: 'close' })
    const close = make('button', { type: 'button', 'aria-label': words.close, click: askToClose }, '✕')
    const end = make('button', { type: 'button', 'aria-label': words.end, title: words.end }, '⏻')
    end.addEventListener('click', () => {
      if (end.classList.toggle('asked')) end.textContent = words.endConfirm
      else void this.#client.end()
      if (!end.classList.contains('asked')) end.textContent = '⏻'
    })
    end.addEventListener('blur', () => {
      end.classList.remove('asked')
      end.textContent = '⏻'
    })
    const whatsapp =
      whatsappUrl !== null &&
      make('a', { href: whatsappUrl, target: '_blank', rel: 'noopener noreferrer' }, words.whatsapp)
    return make('header', {}, make('h1', {}, title), whatsapp, end, window.parent !== window && close)
  }

  #makeFields(): HTMLFieldSetElement {
    const types = { name: 'text', email: 'email', phone: 'tel' } as const
    const asked = (Object.keys(types) as Field[]).filter((field) => this.#config.fields[field] !== 'off')
    const labels = asked.map((field) => {
      const required = this.#config.fields[field] === 'required'
      const input = make('input', {
        name: field,
        type: types[field],
        maxlength: field === 'email' ? '255' : '64',
        autocomplete: field === 'phone' ? 'tel' : field,
        required,
      })
      const label = this.#words[field]
      return make('label', {}, required ? label : `${label} (${this.#words.optional})`, input)
    })
    return make('fieldset', {}, ...labels)
  }

  #makeForm(): HTMLFormElement {
    const words = this.#words
    const file = make('input', {
      type: 'file',
      accept: 'image/jpeg,image/png,image/webp,application/pdf',
      hidden: true,
    })
    const attach = make('button', { type: 'button', 'aria-label': words.attach, title: words.attach }, '📎')
    attach.addEventListener('click', () => file.click())
    const send = make('button', { type: 'submit', class: 'send' }, words.send)
    const form = make('form', {}, this.#fields, make('div', { class: 'line' }, attach, file, this.#input, send))
    file.addEventListener('change', () => {
      const [chosen] = file.files ?? []
      if (chosen === undefined || !form.reportValidity()) return
      if (chosen.size > maxFileBytes) this.#state.textContent = words.tooLarge
      else this.#client.send({ text: '', file: chosen }, this.#profile())
      file.value = ''
    })
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      const text = this.#input.value.trim()
      if (text === '') return
      this.#client.send({ text }, this.#profile())
      this.#input.value = ''
      this.#input.focus()
    })
    this.#input.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
      event.preventDefault()
      form.requestSubmit()
    })
    return form
  }

  #profile(): Profile {
    if (this.#fields.hidden) return {}
    const inputs = [...this.#fields.querySelectorAll('input')]
    return Object.fromEntries(inputs.flatMap(({ name, value }) => (value.trim() === '' ? [] : [[name, value.trim()]])))
  }
}

void start()
