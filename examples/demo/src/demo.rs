//! The two sides in turns, and what is set and measured.

use std::error::Error;
use std::io;

use crate::clients::WINDOW;
use crate::history::{History, Summary};
use crate::report::Report;
use crate::screen::{SideView, View};
use crate::sides::{Side, Sides};

/// The background's share in percent, as keys change it.
const SHARES: [u32; 8] = [1, 5, 10, 25, 50, 75, 90, 95];

/// The windows that the numbers on the screen are of, at most: three seconds of each side.
const RECENT: usize = 15;

/// The windows that the screen has room for, at most.
const SHOWN: usize = 250;

/// See the [module docs](self).
pub(crate) struct Demo {
    sides: Sides,
    histories: [History; 2],
    is_on: bool,
    /// In `SHARES`.
    share: usize,
    windows: u64,
}

impl Demo {
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        let share = 1;
        let sides = Sides::new(SHARES[share])?;
        Ok(Self { sides, histories: Default::default(), is_on: false, share, windows: 0 })
    }

    pub(crate) fn toggle_background(&mut self) {
        self.is_on = !self.is_on;
        self.sides.set_compacts(self.is_on);
        self.histories.iter_mut().for_each(History::setting_changed);
    }

    /// Goes to the next share, up or down.
    pub(crate) fn change_share(&mut self, up: bool) -> Result<(), Box<dyn Error>> {
        self.share = if up { (self.share + 1).min(SHARES.len() - 1) } else { self.share.saturating_sub(1) };
        self.sides.set_share(SHARES[self.share])?;
        self.histories.iter_mut().for_each(History::setting_changed);
        Ok(())
    }

    /// Gives the side whose turn it is a window. Of two pairs each side begins one.
    pub(crate) fn window(&mut self) -> io::Result<()> {
        let side = Side::BOTH[usize::from(matches!(self.windows % 4, 1 | 2))];
        let window = self.sides.window(side, self.windows / 2)?;
        self.histories[side as usize].push(window);
        self.windows += 1;
        Ok(())
    }

    pub(crate) fn view(&self) -> View {
        let sides = Side::BOTH.map(|side| {
            let history = &self.histories[side as usize];
            SideView { side, recent: history.recent(RECENT), each: history.newest(SHOWN) }
        });
        View { is_on: self.is_on, share: SHARES[self.share], sides }
    }

    /// A third of this time without the background, the rest beside it.
    pub(crate) fn run_for(&mut self, seconds: u32) -> Result<Report, Box<dyn Error>> {
        let pairs = (u128::from(seconds) * 1000 / WINDOW.as_millis() / 2).max(2);
        let alone = self.run_pairs(pairs.div_ceil(3))?;
        self.toggle_background();
        let beside = self.run_pairs(pairs - pairs.div_ceil(3))?;
        Ok(Report { share: SHARES[self.share], alone, beside })
    }

    fn run_pairs(&mut self, pairs: u128) -> io::Result<[Summary; 2]> {
        for _ in 0..2 * pairs {
            self.window()?;
        }
        Ok(self.histories.each_ref().map(|history| history.recent(usize::MAX)))
    }
}
