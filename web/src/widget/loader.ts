// The script that a site loads: a button in a shadow root, and the chat in a frame of Parley's origin, which is loaded
// when the visitor opens it. It stores nothing before a chat has begun, and sets no cookies.

import { languageOf, texts } from './texts.ts'

interface Chat {
  open(): void
  close(): void
  /** Names the signed-in visitor by a token of the site's server; null after they have signed out. */
  identify(token: string | null): void
}
declare global {
  interface Window {
    ParleyChat?: Chat
  }
}

const script = document.currentScript as HTMLScriptElement | null

function start(own: HTMLScriptElement): void {
  const { connection = '', lang, identity } = own.dataset
  const origin = new URL(own.src).origin
  const words = texts[languageOf(lang ?? document.documentElement.lang) ?? 'en']
  const color = /^#[0-9a-f]{6}$/i.test(own.dataset.color ?? '') ? own.dataset.color : '#2f6f5e'
  const begunKey = `parley-chat:${connection}`
  const host = document.createElement('div')
  const root = host.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styles.replace('#2f6f5e', color ?? '#2f6f5e'))
  root.adoptedStyleSheets = [sheet]
  const button = document.createElement('button')
  button.type = 'button'
  const mark = document.createElement('span')
  button.append(icon(), mark)
  root.append(button)
  let frame: HTMLIFrameElement | null = null
  let token = identity ?? null
  let isOpen = false
  let unread = 0

  const send = (message: object) => frame?.contentWindow?.postMessage({ parley: true, ...message }, origin)
  const load = () => {
    if (frame !== null) return
    frame = createFrame(origin, own.dataset, words.chat)
    root.append(frame)
  }
  const show = (open: boolean) => {
    if (open) load()
    isOpen = open
    host.toggleAttribute('open', open)
    draw()
    send({ type: open ? 'open' : 'close' })
    if (open) frame?.focus()
    else button.focus()
  }
  const draw = () => {
    button.setAttribute('aria-expanded', String(isOpen))
    button.setAttribute('aria-label', unread > 0 ? words.openUnread(unread) : words.open)
    mark.textContent = unread > 9 ? '9+' : String(unread)
    mark.hidden = unread === 0
  }

  button.addEventListener('click', () => show(!isOpen))
  window.addEventListener('message', ({ source, origin: from, data }: MessageEvent) => {
    if (frame === null || source !== frame.contentWindow || from !== origin || data?.parley !== true) return
    if (data.type === 'ready') send({ type: 'start', identity: token, isOpen })
    if (data.type === 'close') show(false)
    if (data.type === 'unread' && Number.isInteger(data.count)) {
      unread = data.count
      draw()
    }
    // Only a hint to load the chat on the next page, for the badge; the chat itself is known to the frame alone.
    if (data.type === 'begun') remember(begunKey, data.begun === true)
  })
  draw()
  document.body.append(host)
  if (recall(begunKey) || token !== null) load()

  window.ParleyChat = {
    open: () => show(true),
    close: () => show(false),
    identify: (next) => {
      token = next
      if (frame === null && token !== null) load()
      else send({ type: 'identify', identity: token })
    },
  }
}

function createFrame(origin: string, options: DOMStringMap, title: string): HTMLIFrameElement {
  const { connection = '', lang = document.documentElement.lang, theme = 'auto' } = options
  const frame = document.createElement('iframe')
  // What the frame needs to know of the page is in the part of the address that no server sees. It tells the server where
  // a chat began, with the first message.
  const page = new URLSearchParams({ origin: location.origin, theme, url: location.href.slice(0, 4096) })
  frame.src = `${origin}/widget/frame/${connection}?${new URLSearchParams({ lang: lang.slice(0, 35) })}#${page}`
  frame.title = title
  frame.setAttribute('sandbox', permissions)
  return frame
}

const permissions =
  'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads'

function remember(key: string, isBegun: boolean): void {
  try {
    if (isBegun) localStorage.setItem(key, '1')
    else localStorage.removeItem(key)
  } catch {
    // Without storage, the chat is loaded when it is opened.
  }
}

function recall(key: string): boolean {
  try {
    return localStorage.getItem(key) === '1'
  } catch {
    return false
  }
}

const svg = 'http://www.w3.org/2000/svg'

function icon(): Element {
  const drawing = document.createElementNS(svg, 'svg')
  drawing.setAttribute('viewBox', '0 0 24 24')
  drawing.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS(svg, 'path')
  path.setAttribute('d', 'M4 4h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H9l-5 4v-4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z')
  drawing.append(path)
  return drawing
}

const styles = `
:host { all: initial; position: fixed; inset: auto 20px 20px auto; z-index: 2147483000; font: 14px system-ui, sans-serif; }
button { display: block; position: relative; margin: 0 0 0 auto; width: 56px; height: 56px; border: 2px solid #fff; border-radius: 50%; padding: 0;
  background: #2f6f5e; cursor: pointer; box-shadow: 0 2px 12px #0005; }
button:focus-visible { outline: 3px solid #fff; box-shadow: 0 0 0 6px #1f4e8c; }
svg { width: 26px; height: 26px; fill: #fff; stroke: #0006; paint-order: stroke; vertical-align: middle; }
span { position: absolute; top: -6px; right: -6px; min-width: 22px; border-radius: 11px; background: #b3261e; color: #fff; font: 600 13px/22px system-ui; text-align: center; }
[hidden] { display: none; }
iframe { display: none; position: fixed; inset: auto 20px 90px auto; width: 380px; height: min(620px, calc(100dvh - 110px)); border: 0; border-radius: 14px;
  background: Canvas; color-scheme: normal; box-shadow: 0 6px 30px #0005; }
:host([open]) iframe { display: block; }
@media (max-width: 480px) {
  iframe { inset: 0; width: 100%; height: 100dvh; border-radius: 0; }
  :host([open]) button { display: none; }
}
@media print { :host { display: none; } }`

if (script !== null && window.ParleyChat === undefined) {
  if (document.body === null) document.addEventListener('DOMContentLoaded', () => start(script))
  else start(script)
}
