import '@mantine/notifications/styles.layer.css'
import { useMediaQuery } from '@mantine/hooks'
import { Notifications } from '@mantine/notifications'
import { useEffect, useState } from 'react'
import styles from './ToastList.module.css'

const widthPx = 324
/** Height of three toasts of two lines, with margins. */
const maxHeightPx = 320

export default function ToastList() {
  // There the inbox shows one pane, with its text field at the bottom.
  const isNarrow = useMediaQuery('(max-width: 880px)', false, { getInitialValueInEffect: false }) ?? false
  const isInTheWay = useTextFieldRect(isNarrow ? 'top' : 'bottom', isNarrow)
  const edge = isNarrow === isInTheWay ? 'bottom' : 'top'
  return (
    <Notifications
      className={styles.place}
      position={isNarrow ? `${edge}-center` : `${edge}-left`}
      containerWidth={widthPx}
      limit={3}
      autoClose={5000}
    />
  )
}

/** Returns whether a focused text field is where toasts appear. */
function useTextFieldRect(edge: 'top' | 'bottom', isCentred: boolean): boolean {
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    const update = () => setNear(hasFocusedTextField(positionFor(edge, isCentred)))
    update()
    // A field may grow while typing.
    const events = ['focusin', 'focusout', 'input'] as const
    for (const name of events) document.addEventListener(name, update)
    window.addEventListener('resize', update)
    return () => {
      for (const name of events) document.removeEventListener(name, update)
      window.removeEventListener('resize', update)
    }
  }, [edge, isCentred])
  return isNear
}

interface ToastPosition {
  left: number
  right: number
  top: number
  bottom: number
}

function positionFor(edge: 'top' | 'bottom', isCentred: boolean): ToastPosition {
  const { innerWidth, innerHeight } = window
  const left = isCentred ? (innerWidth - widthPx) / 2 : 64
  const top = edge === 'top' ? 56 : innerHeight - maxHeightPx
  return { left, right: left + widthPx, top, bottom: top + maxHeightPx }
}

function hasFocusedTextField(place: ToastPosition): boolean {
  const field = document.activeElement
  if (!field?.matches('input, textarea, select, [contenteditable="true"]')) return false
  const { left, right, top, bottom } = field.getBoundingClientRect()
  return left < place.right && right > place.left && top < place.bottom && bottom > place.top
}
