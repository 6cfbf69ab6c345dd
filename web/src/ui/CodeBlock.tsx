import { ActionIcon, CopyButton } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { t } from '../text/index.ts'
import styles from './CodeBlock.module.css'
import { Tip } from './overlay/Tip.tsx'

interface CodeBlockProps {
  /** What it is, for screen readers. */
  label: string
  /** Shown and copied as it is, over as many lines as it takes. */
  value: string
  isLow?: boolean
}

/** Lines for a program, or of one: code to copy, a request's body. */
export function CodeBlock({ label, value, isLow }: CodeBlockProps) {
  return (
    <section className={styles.block} aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keyboard */}
      <pre className={styles.code} data-low={isLow || undefined} tabIndex={0}>
        {value}
      </pre>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Tip label={copied ? t.common.copied : t.common.copy} position="left">
            <ActionIcon
              className={styles.copy}
              variant="subtle"
              color="gray"
              onClick={copy}
              aria-label={`${t.common.copy}: ${label}`}
            >
              {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
            </ActionIcon>
          </Tip>
        )}
      </CopyButton>
    </section>
  )
}
