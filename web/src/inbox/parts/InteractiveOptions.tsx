import { IconList } from '@tabler/icons-react'
import type { Choices } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import styles from './InteractiveOptions.module.css'

/** Interactive options of our message, as the customer sees them; they cannot be clicked here. */
export default function InteractiveOptions({ choices: { buttons, list, footer } }: { choices: Choices }) {
  const options: readonly { id: string; title: string; description?: string }[] = list?.rows ?? buttons ?? []
  return (
    <span className={styles.choices} title={t.media.choicesHelp}>
      {footer !== undefined && (
        <small className={styles.footer} dir="auto">
          {footer}
        </small>
      )}
      {list !== undefined && (
        <span className={styles.opener}>
          <IconList size={15} aria-hidden="true" />
          <bdi>{list.button}</bdi>
        </span>
      )}
      <ul className={styles.options} aria-label={t.media.choices} data-list={list !== undefined || undefined}>
        {options.map((option) => (
          <li key={option.id}>
            <bdi>{option.title}</bdi>
            {option.description !== undefined && <small dir="auto">{option.description}</small>}
          </li>
        ))}
      </ul>
    </span>
  )
}
