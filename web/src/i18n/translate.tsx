import { useEffect, useState, type ReactNode } from "react";
import { FormattedMessage, IntlProvider, useIntl } from "react-intl";

import { directionOf, isolated, type Direction } from "./direction";
import { loadPart, matchLocale, type MessageId, type Part } from "./messages";

type Values = Record<string, string | number>;
type RichValues = Record<string, ReactNode | ((chunks: ReactNode) => ReactNode)>;

function isolate<Value>(values: Record<string, Value>, sentence: Direction): Record<string, Value | string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === "string" ? isolated(value, sentence) : value,
    ]),
  );
}

/** A function that returns the text of a message, for attributes. */
export function useText(): (id: MessageId, values?: Values) => string {
  const intl = useIntl();
  return (id, values) => intl.formatMessage({ id }, values && isolate(values, directionOf(intl.locale)));
}

/** The text of a message, whose values may be elements. */
export function Translate({ id, values }: { id: MessageId; values?: RichValues }) {
  const { locale } = useIntl();
  return <FormattedMessage id={id} {...(values && { values: isolate(values, directionOf(locale)) })} />;
}

interface WithTextsProps {
  /** A list that stays the same between renders. */
  parts: readonly Part[];
  /** Shown until the texts are loaded. */
  fallback?: ReactNode;
  children: ReactNode;
}

/** Loads further texts in the language in use, for the components below. */
export function WithTexts({ parts, fallback, children }: WithTextsProps) {
  const intl = useIntl();
  const [loaded, setLoaded] = useState<{ locale: string; texts: Record<string, string> } | null>(null);
  useEffect(() => {
    let current = true;
    const { locale } = intl;
    void Promise.all(parts.map((part) => loadPart(part, matchLocale([locale])))).then((texts) => {
      if (current) {
        setLoaded({ locale, texts: Object.assign({}, ...texts) as Record<string, string> });
      }
    });
    return () => {
      current = false;
    };
  }, [intl, parts]);
  if (loaded?.locale !== intl.locale) {
    return fallback;
  }
  return (
    <IntlProvider
      locale={intl.locale}
      messages={{ ...intl.messages, ...loaded.texts } as typeof loaded.texts}
    >
      {children}
    </IntlProvider>
  );
}
