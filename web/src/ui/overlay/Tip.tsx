import {
  type AriaAttributes,
  cloneElement,
  type DOMAttributes,
  type ReactElement,
  Suspense,
  useEffect,
  useRef,
  useState,
} from 'react'
import { prefetchedComponent } from './lazy.ts'
import type { TipBubbleProps } from './TipBubble.tsx'

const TipBubble = prefetchedComponent(() => import('./TipBubble.tsx'))
const restMs = 400

interface TipProps extends Omit<TipBubbleProps, 'target' | 'close'> {
  children: ReactElement<DOMAttributes<HTMLElement> & AriaAttributes>
}

/** Tooltip on hover. Closes on press, and stays closed while a dropdown of the element is open. */
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
    onPointerDownCapture: close,
  })
  const { 'aria-haspopup': drops, 'aria-expanded': isExpanded } = children.props
  const isOpened = Boolean(drops) && isExpanded === true
  return (
    <>
      {hovered}
      {target !== null && !isOpened && (
        <Suspense>
          <TipBubble {...bubble} target={target} close={close} />
        </Suspense>
      )}
    </>
  )
}
