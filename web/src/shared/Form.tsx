import type { ComponentProps, FormEvent } from 'react'

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  submit(): unknown
}

/** A form that is sent by Enter in a field or by its button; its fields show what is wrong. */
export function Form({ submit, ...props }: FormProps) {
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    submit()
  }
  return <form {...props} noValidate onSubmit={onSubmit} />
}
