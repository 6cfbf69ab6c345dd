import {
  IconCopy,
  IconCornerUpLeft,
  IconExternalLink,
  IconFileText,
  IconMapPin,
  IconPhone,
  IconPhoto,
  IconVideo,
} from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { type MarkupNode, parseMarkup } from '../shared/markup/markup.ts'
import { t } from '../text/index.ts'
import { Segments } from '../ui/page/Segments.tsx'
import styles from './PhonePreview.module.css'

export interface ShownTemplate {
  header: { type: keyof typeof icons | 'none' | 'text'; text: string }
  body: string
  footer: string
  buttons: readonly { type: keyof typeof buttonIcons; text: string }[]
}

const icons = { image: IconPhoto, video: IconVideo, document: IconFileText, location: IconMapPin }
const buttonIcons = { quick_reply: IconCornerUpLeft, url: IconExternalLink, phone: IconPhone, copy_code: IconCopy }
/** With more buttons, phones show two and a list. */
const maxShown = 3

/** A template as the customer's phone shows it, in light or dark colors; each text in the direction of its script. */
export function PhonePreview({ shown }: { shown: ShownTemplate }) {
  const texts = t.templates.preview
  const [look, setLook] = useState<'light' | 'dark'>('light')
  const { header, body, footer, buttons } = shown
  const visible = buttons.length > maxShown ? buttons.slice(0, maxShown - 1) : buttons
  return (
    <section className={styles.preview} aria-label={texts.title}>
      <Segments
        label={texts.look}
        data={(['light', 'dark'] as const).map((value) => ({ value, label: texts.looks[value] }))}
        value={look}
        onChange={setLook}
      />
      <div className={styles.screen} data-look={look}>
        <div className={styles.message}>
          <Header {...header} />
          <p className={styles.body} dir="auto">
            {body.trim() === '' ? <span className={styles.quiet}>{texts.empty}</span> : renderNodes(parseMarkup(body))}
          </p>
          {footer.trim() !== '' && (
            <p className={styles.footer} dir="auto">
              {footer}
            </p>
          )}
          {visible.map(({ type, text }, n) => {
            const Icon = buttonIcons[type]
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: buttons are identified by position
              <div key={n} className={styles.button} dir="auto">
                <Icon size={16} aria-hidden="true" /> {text || (type === 'copy_code' ? texts.copyCode : '…')}
              </div>
            )
          })}
          {visible.length < buttons.length && <div className={styles.button}>{texts.allOptions}</div>}
        </div>
      </div>
    </section>
  )
}

function Header({ type, text }: ShownTemplate['header']) {
  if (type === 'none') return null
  if (type === 'text') {
    return (
      <p className={styles.header} dir="auto">
        {text || '…'}
      </p>
    )
  }
  const Icon = icons[type]
  return (
    <div className={styles.file}>
      <Icon size={32} stroke={1.4} aria-hidden="true" />
      <span>{t.templates.editor.headers[type]}</span>
    </div>
  )
}

const renderNodes = (nodes: readonly MarkupNode[]): ReactNode[] => nodes.map(renderNode)

function renderNode(node: MarkupNode, n: number): ReactNode {
  switch (node.type) {
    case 'bold':
      return <strong key={n}>{renderNodes(node.children)}</strong>
    case 'italic':
      return <em key={n}>{renderNodes(node.children)}</em>
    case 'struck':
      return <s key={n}>{renderNodes(node.children)}</s>
    case 'code':
      return <code key={n}>{node.text}</code>
    case 'link':
      return (
        <span key={n} className={styles.link}>
          {node.text}
        </span>
      )
    default:
      return node.text
  }
}
