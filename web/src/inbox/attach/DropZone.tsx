import { IconUpload } from '@tabler/icons-react'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { t } from '../../text/index.ts'
import styles from './DropZone.module.css'

interface DropZoneProps {
  /** Element that accepts dropped files. */
  pane: RefObject<HTMLElement | null>
  name: string
  isOpen: boolean
  addFiles(files: readonly File[]): void
}

/** Overlay for files that are dragged over the pane; accepts dropped files. */
export default function DropZone({ pane, name, isOpen, addFiles }: DropZoneProps) {
  const [isOver, setOver] = useState(false)
  const latest = useRef({ isOpen, addFiles })
  latest.current = { isOpen, addFiles }
  useEffect(() => {
    const target = pane.current
    if (target === null) return
    // Entering a child fires `dragenter` before `dragleave` of the parent, so entries and exits are counted.
    let depth = 0
    const set = (next: number) => {
      depth = next
      setOver(next > 0)
    }
    const ending = new AbortController()
    const on = (type: 'dragenter' | 'dragleave' | 'dragover' | 'drop', handle: (transfer: DataTransfer) => void) => {
      const listen = (event: DragEvent) => {
        const { dataTransfer } = event
        if (dataTransfer?.types.includes('Files') !== true) return
        // Otherwise the browser would open the files.
        event.preventDefault()
        handle(dataTransfer)
      }
      target.addEventListener(type, listen, { signal: ending.signal })
    }
    on('dragenter', () => set(depth + 1))
    on('dragleave', () => set(Math.max(0, depth - 1)))
    on('dragover', (transfer) => {
      transfer.dropEffect = latest.current.isOpen ? 'copy' : 'none'
    })
    on('drop', (transfer) => {
      set(0)
      if (latest.current.isOpen) latest.current.addFiles([...transfer.files])
    })
    return () => ending.abort()
  }, [pane])
  if (!isOver || pane.current === null) return null
  return createPortal(
    <div className={styles.place} data-closed={!isOpen || undefined}>
      <p>
        <IconUpload size={28} stroke={1.4} aria-hidden="true" />
        {isOpen ? t.files.drop({ name }) : t.files.cannotDrop}
      </p>
    </div>,
    pane.current,
  )
}
