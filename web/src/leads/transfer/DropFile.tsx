import { Button, FileButton } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useState } from 'react'
import { t } from '../../text/index.ts'
import styles from './transfer.module.css'

/** Accepts a dropped or chosen file. */
export function DropFile({ take, label = t.transfer.drop }: { take(file: File): void; label?: string }) {
  const [isOver, setOver] = useState(false)
  const [isEmpty, setEmpty] = useState(false)
  const chooseFile = (file: File | null | undefined) => {
    if (file == null) return
    setEmpty(file.size === 0)
    if (file.size > 0) take(file)
  }
  return (
    <section
      className={styles.drop}
      data-over={isOver || undefined}
      aria-label={label}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        chooseFile(event.dataTransfer.files[0])
      }}
    >
      <IconUpload size={28} stroke={1.4} aria-hidden="true" />
      <strong>{label}</strong>
      <p className={styles.muted}>{t.transfer.dropHelp}</p>
      <FileButton onChange={chooseFile} accept=".csv,.tsv,.txt,.ndjson,.jsonl,text/csv,application/x-ndjson">
        {(props) => <Button {...props}>{t.transfer.chooseFile}</Button>}
      </FileButton>
      {isEmpty && <p role="alert">{t.transfer.emptyFile}</p>}
    </section>
  )
}
