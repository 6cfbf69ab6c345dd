import { IconExternalLink, IconForms, IconHome, IconMapPin, IconPhone } from '@tabler/icons-react'
import type { ShownPrompt } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import styles from './InteractiveOptions.module.css'

const icons = {
  link: IconExternalLink,
  location_request: IconMapPin,
  contact_request: IconPhone,
  address_request: IconHome,
  flow: IconForms,
} as const

/** The one button of our message. Only a link can be followed here. */
export default function PromptPart({ prompt: { type, title, url, footer } }: { prompt: ShownPrompt }) {
  const Icon = icons[type]
  // The platform labels the other buttons itself.
  const name = type === 'link' || type === 'flow' ? title : t.media.prompts[type]
  const label = (
    <>
      <Icon size={15} aria-hidden="true" />
      <bdi>{name}</bdi>
    </>
  )
  return (
    <span className={styles.choices} title={t.media.promptHelp[type]}>
      {footer !== undefined && (
        <small className={styles.footer} dir="auto">
          {footer}
        </small>
      )}
      {url === undefined ? (
        <span className={styles.opener}>{label}</span>
      ) : (
        <a className={styles.opener} href={url} target="_blank" rel="noopener noreferrer nofollow">
          {label}
        </a>
      )}
    </span>
  )
}
