import { ActionIcon, CopyButton } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { t } from '../text/index.ts'
import styles from './CodeBlock.module.css'
import { Tip } from './overlay/Tip.tsx'

interface CodeBlockProps {
  /** Accessible name. */
  label: string
  /** Shown and copied unchanged, may have several lines. */
  value: string
  isLow?: boolean
}

/** Code to copy, or the body of a request. */
export function CodeBlock({ label, value, isLow }: CodeBlockProps) {
  return (
    <section className={styles.block} aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard */}
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
