import { createContext, type FormEvent, type ReactNode, use, useId } from 'react'
import styles from './Section.module.css'

interface SectionProps {
  title: string
  help?: ReactNode
  /** Beside the title. */
  action?: ReactNode
  children?: ReactNode
  /** Under a line at the lower edge: the buttons. */
  footer?: ReactNode
  /** Makes a form of it. */
  submit?: () => void
  tone?: 'bad'
}

/** How deep the titles of sections stand: under another heading of the page, unless it has none between. */
export const SectionTitle = createContext<'h2' | 'h3'>('h3')

/** One subject of a page that is set up: a card with its title. */
export function Section({ title, help, action, children, footer, submit, tone }: SectionProps) {
  const titleId = useId()
  const Title = use(SectionTitle)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    submit?.()
  }
  const content = (
    <>
      {children !== undefined && <div className={styles.body}>{children}</div>}
      {footer && <div className={styles.footer}>{footer}</div>}
    </>
  )
  return (
    <section className={styles.section} aria-labelledby={titleId} data-tone={tone}>
      <div className={styles.head}>
        <div className={styles.words}>
          <Title className={styles.title} id={titleId}>
            {title}
          </Title>
          {help !== undefined && <p className={styles.help}>{help}</p>}
        </div>
        {action}
      </div>
      {submit === undefined ? (
        content
      ) : (
        <form onSubmit={onSubmit} noValidate>
          {content}
        </form>
      )}
    </section>
  )
}
