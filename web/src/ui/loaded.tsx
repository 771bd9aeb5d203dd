import { useEffect, useState, type ComponentType, type ReactNode } from "react";

type LoadedProps<Props> = Props & {
  /** What shows until the code is there; nothing without it. */
  fallback?: ReactNode;
};

export interface LoadedComponent<Props> {
  (props: LoadedProps<Props>): ReactNode;
  /** Load the code before it is drawn. */
  preload: () => void;
}

/**
 * A component whose code is a file of its own. Unlike one of React's `lazy`, it is drawn at once if its code is there
 * already, and else as soon as it is: React keeps what Suspense waits for back until 300 ms after the fallback was
 * drawn, also where the code took 10 ms, and the dialog inside of a dialog for 300 more.
 */
export function loaded<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): LoadedComponent<Props> {
  let code: ComponentType<Props> | null = null;
  let loading: Promise<void> | null = null;
  const start = (): Promise<void> =>
    (loading ??= load().then(
      (module) => {
        code = module.default;
      },
      (error: unknown) => {
        // The next one to draw it tries again.
        loading = null;
        throw error;
      },
    ));
  const preload = () => {
    start().catch(() => undefined);
  };
  function Loaded({ fallback = null, ...props }: LoadedProps<Props>) {
    const [isLoaded, setIsLoaded] = useState(() => {
      if (code === null) {
        // Not only when the fallback is in the document: what is around it takes its time to be drawn.
        preload();
      }
      return code !== null;
    });
    const [failure, setFailure] = useState<{ error: unknown } | null>(null);
    useEffect(() => {
      if (isLoaded) {
        return;
      }
      let isShown = true;
      start().then(
        () => isShown && setIsLoaded(true),
        (error: unknown) => isShown && setFailure({ error }),
      );
      return () => {
        isShown = false;
      };
    }, [isLoaded]);
    if (failure !== null) {
      throw failure.error;
    }
    const Code = code;
    return Code === null ? fallback : <Code {...(props as unknown as Props)} />;
  }
  return Object.assign(Loaded, { preload });
}
