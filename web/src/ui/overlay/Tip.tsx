import { cloneElement, type DOMAttributes, type ReactElement, Suspense, useEffect, useRef, useState } from 'react'
import { later } from './later.ts'
import type { TipBubbleProps } from './TipBubble.tsx'

const TipBubble = later(() => import('./TipBubble.tsx'))
const restMs = 400

interface TipProps extends Omit<TipBubbleProps, 'target' | 'close'> {
  children: ReactElement<DOMAttributes<HTMLElement>>
}

/** A few words beside what the mouse rests on. */
export function Tip({ children, ...bubble }: TipProps) {
  const [target, setTarget] = useState<HTMLElement | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const close = () => {
    clearTimeout(timer.current)
    setTarget(null)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const hovered = cloneElement(children, {
    onPointerEnter: ({ pointerType, currentTarget }) => {
      if (pointerType === 'mouse') timer.current = setTimeout(() => setTarget(currentTarget), restMs)
    },
    onPointerLeave: close,
  })
  return (
    <>
      {hovered}
      {target !== null && (
        <Suspense>
          <TipBubble {...bubble} target={target} close={close} />
        </Suspense>
      )}
    </>
  )
}
