import { IconArrowBackUp, IconDots } from '@tabler/icons-react'
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { useInbox } from '../../data/inbox/queries.ts'
import { react } from '../../data/inbox/reactions.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { setQuotedMessage } from './quoted-message.ts'
import styles from './ReactionPicker.module.css'
import { type ReactionTarget, setReactionTarget } from './reaction-target.ts'

const quickReactions = ['👍', '❤️', '😂', '😮', '😢', '🙏']
const others = [...'👏🎉🔥💯✅👌🙌💪😍🥰😊🤔😅😉🤝👀🚀⭐']
const edgePx = 8

interface ReactionPickerProps {
  picking: ReactionTarget
  canQuote: boolean
}

/** Emoji picker beside a message. Our reaction is highlighted; choosing it again removes it. */
export default function ReactionPicker({ picking, canQuote }: ReactionPickerProps) {
  const { conversationId, message, button } = picking
  const inbox = useInbox()
  const texts = t.files.react
  const [isLong, setLong] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const ours = message.reactions.find(({ direction }) => direction === 'outbound')?.emoji ?? null
  const close = () => {
    setReactionTarget(null)
    button.focus()
  }
  usePlace(box, button, isLong)
  useOutside(box, button)
  const choose = (emoji: string) => {
    close()
    react(inbox, conversationId, message, emoji === ours ? null : emoji).catch(showError)
  }
  const faces = isLong ? [...quickReactions, ...others] : quickReactions
  const shown = ours === null || faces.includes(ours) ? faces : [ours, ...faces]
  return createPortal(
    <div
      ref={box}
      className={styles.picker}
      role="dialog"
      aria-label={texts.title}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return moveFocus(event)
        event.stopPropagation()
        close()
      }}
    >
      <div className={styles.faces}>
        {shown.map((emoji) => (
          <button
            key={emoji}
            type="button"
            aria-pressed={emoji === ours}
            aria-label={emoji === ours ? texts.remove({ emoji }) : texts.with({ emoji })}
            onClick={() => choose(emoji)}
          >
            {emoji}
          </button>
        ))}
        {!isLong && (
          <button type="button" aria-label={texts.more} title={texts.more} onClick={() => setLong(true)}>
            <IconDots size={18} />
          </button>
        )}
      </div>
      {canQuote && (
        <button
          type="button"
          className={styles.reply}
          onClick={() => {
            setReactionTarget(null)
            setQuotedMessage(conversationId, message)
          }}
        >
          <IconArrowBackUp size={16} aria-hidden="true" />
          {t.attach.reply}
        </button>
      )}
    </div>,
    document.body,
  )
}

/** Positions the picker beside its button, above it if there is space, within the viewport. */
function usePlace(box: { current: HTMLDivElement | null }, button: HTMLElement, isLong: boolean): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: its size depends on `isLong`
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const [at, own] = [button.getBoundingClientRect(), element.getBoundingClientRect()]
    const left = Math.min(at.left - own.width / 2, window.innerWidth - own.width - edgePx)
    const above = at.top - own.height - 4
    element.style.left = `${Math.max(edgePx, left)}px`
    element.style.top = `${above > edgePx ? above : at.bottom + 4}px`
    element.querySelector('button')?.focus()
  }, [box, button, isLong])
}

/** Closes on a click outside or when the thread scrolls. */
function useOutside(box: { current: HTMLDivElement | null }, button: HTMLElement): void {
  useEffect(() => {
    const ending = new AbortController()
    const options = { signal: ending.signal, capture: true }
    const pressed = ({ target }: Event) => {
      const isInside = target instanceof Node && (box.current?.contains(target) === true || button.contains(target))
      if (!isInside) setReactionTarget(null)
    }
    document.addEventListener('pointerdown', pressed, options)
    document.addEventListener('wheel', pressed, { ...options, passive: true })
    window.addEventListener('resize', () => setReactionTarget(null), options)
    return () => ending.abort()
  }, [box, button])
}

/** Moves between emojis by arrow keys. */
function moveFocus({ key, currentTarget }: KeyboardEvent<HTMLElement>): void {
  const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 7, ArrowUp: -7 }[key]
  if (by === undefined) return
  const buttons = [...currentTarget.querySelectorAll('button')]
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
  buttons[Math.max(0, Math.min(buttons.length - 1, at + by))]?.focus()
}
