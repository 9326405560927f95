//! Where the window was and how large, for the next time. Losing it is harmless.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tauri::{App, LogicalPosition, LogicalSize, Manager, WebviewWindow, Window};

const USUAL: (f64, f64) = (1280.0, 800.0);
pub const SMALLEST: (f64, f64) = (900.0, 560.0);
/// A window that is dragged changes many times; its place is written when it has been still for this long.
const STILL: Duration = Duration::from_millis(250);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    width: f64,
    height: f64,
    /// Absent where the system has never told.
    at: Option<(f64, f64)>,
    maximized: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self { width: USUAL.0, height: USUAL.1, at: None, maximized: false }
    }
}

impl Place {
    /// What was kept may be anything.
    fn read(text: &str) -> Self {
        let kept: Self = serde_json::from_str(text).unwrap_or_default();
        let sound = |length: f64, least: f64, usual: f64| match length.is_finite() && length >= least {
            true => length.min(16_384.0),
            false => usual,
        };
        Self {
            width: sound(kept.width, SMALLEST.0, USUAL.0),
            height: sound(kept.height, SMALLEST.1, USUAL.1),
            ..kept
        }
    }

    pub fn remembered(app: &App) -> Self {
        file(app)
            .and_then(|file| fs::read_to_string(file).ok())
            .map_or_else(Self::default, |text| Self::read(&text))
    }

    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// Moves the window to where it was, unless that is on no screen any more.
    pub fn apply(&self, window: &WebviewWindow) -> tauri::Result<()> {
        if let Some((x, y)) = self.at.filter(|(x, y)| is_on_a_screen(window, *x, *y)) {
            window.set_position(LogicalPosition::new(x, y))?;
        }
        if self.maximized {
            window.maximize()?;
        }
        Ok(())
    }

    /// The window as it is now. A maximized one keeps the size it has when it is not.
    pub fn of(window: &Window) -> tauri::Result<Self> {
        let scale = window.scale_factor()?;
        let LogicalSize { width, height } = window.inner_size()?.to_logical(scale);
        let at: LogicalPosition<f64> = window.outer_position()?.to_logical(scale);
        let maximized = window.is_maximized()?;
        let (width, height) = if maximized { USUAL } else { (width, height) };
        Ok(Self { width, height, at: (!maximized).then_some((at.x, at.y)), maximized })
    }

    pub fn remember(&self, window: &Window) {
        let kept = || -> Option<()> {
            let file = file(window)?;
            fs::create_dir_all(file.parent()?).ok()?;
            fs::write(file, serde_json::to_string(self).ok()?).ok()
        };
        // The next start then looks like the first.
        let _ = kept();
    }
}

/// Remembers the place also of a window that is ended from outside, and never asked to close.
#[derive(Default)]
pub struct Watch(Arc<AtomicU64>);

impl Watch {
    /// The window has another place.
    pub fn changed(&self, window: &Window) {
        let mine = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        let (latest, window) = (Arc::clone(&self.0), window.clone());
        thread::spawn(move || {
            thread::sleep(STILL);
            if latest.load(Ordering::Relaxed) == mine
                && let Ok(place) = Place::of(&window)
            {
                place.remember(&window);
            }
        });
    }
}

fn file(manager: &impl Manager<tauri::Wry>) -> Option<PathBuf> {
    manager.path().app_data_dir().ok().map(|folder| folder.join("window.json"))
}

fn is_on_a_screen(window: &WebviewWindow, x: f64, y: f64) -> bool {
    let screens = window.available_monitors().unwrap_or_default();
    screens.iter().any(|screen| {
        let scale = screen.scale_factor();
        let at: LogicalPosition<f64> = screen.position().to_logical(scale);
        let size: LogicalSize<f64> = screen.size().to_logical(scale);
        x >= at.x - 64.0 && x < at.x + size.width - 64.0 && y >= at.y - 8.0 && y < at.y + size.height - 64.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_may_be_anything() {
        assert_eq!(Place::read(""), Place::default());
        assert_eq!(Place::read("{\"width\": 12, \"height\": 1e99}").size(), (1280.0, 16_384.0));
        let kept = Place { width: 1000.0, height: 700.0, at: Some((10.0, 20.0)), maximized: true };
        assert_eq!(Place::read(&serde_json::to_string(&kept).expect("JSON")), kept);
    }
}
