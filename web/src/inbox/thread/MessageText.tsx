import { memo } from 'react'
import { stretchesOf } from '../parts/link-rules.ts'
import styles from './Thread.module.css'

/** Text as it was written, in the direction of its script; nothing of it is markup, and links tell nobody who follows them. */
export const MessageText = memo(function MessageText({ text }: { text: string }) {
  return (
    <span className={styles.text} dir="auto">
      {stretchesOf(text).map(({ text: part, href }, n) =>
        href === undefined ? (
          part
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a text does not change
          <a key={n} href={href} target="_blank" rel="noopener noreferrer nofollow">
            {part}
          </a>
        ),
      )}
    </span>
  )
})
