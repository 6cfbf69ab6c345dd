import { ActionIcon, CopyButton } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { t } from '../text/index.ts'
import styles from './Copyable.module.css'
import { Tip } from './overlay/Tip.tsx'

interface CopyableProps {
  /** Shown and copied unchanged. */
  value: string
  /** Accessible name. */
  label: string
}

/** Value with a copy button: a URL, a key, a command. */
export function Copyable({ value, label }: CopyableProps) {
  return (
    <div className={styles.box}>
      <input
        className={styles.value}
        readOnly
        value={value}
        aria-label={label}
        onFocus={(event) => event.currentTarget.select()}
      />
      <CopyAction value={value} label={label} />
    </div>
  )
}

/** Button that copies a value. */
export function CopyAction({ value, label, className }: CopyableProps & { className?: string | undefined }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Tip label={copied ? t.common.copied : t.common.copy} position="left">
          <ActionIcon
            className={className}
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
  )
}
