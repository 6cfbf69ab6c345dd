import { createContext, type FormEvent, type ReactNode, use, useId } from 'react'
import styles from './Section.module.css'

interface SectionProps {
  title: string
  help?: ReactNode
  /** Beside the title. */
  action?: ReactNode
  children?: ReactNode
  /** Buttons below a divider. */
  footer?: ReactNode
  /** Makes the section a form. */
  submit?: () => void
  tone?: 'bad'
}

/** Heading level of sections: below another heading, unless the page has none in between. */
export const SectionTitle = createContext<'h2' | 'h3'>('h3')

/** Card with a title, for one subject of a settings page. */
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
        <div className={styles.text}>
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
